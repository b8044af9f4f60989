import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import type { Hex } from '@florin/protocol/order.ts';
import { readArtifact, systemClock, systemRandom } from '@florin/server/operator';
import { encryptKeystore } from '@florin/signing';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { concat, getAddress, getContractAddress, keccak256 } from 'viem';
import { runCli } from './cli.ts';
import type { DeploymentRecord } from './deployment-record.ts';
import { readPublishedInput, startVerifier } from './verify.fixture.ts';

let anvil: Anvil;
let folder: string;
let operator: Hex;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'florin-deploy-'));
  anvil = await startTestAnvil({ automine: true });
  const account = anvil.accounts[0];
  assert.ok(account !== undefined);
  const secrets = { privateKey: account.privateKey, password: 'correct horse' };
  writeFileSync(join(folder, 'deployer.json'), encryptKeystore(systemRandom, secrets, { scryptN: 2 }));
  writeFileSync(join(folder, 'password'), 'correct horse\n');
  operator = account.address;
});
after(async () => {
  await anvil.close();
  rmSync(folder, { recursive: true });
});

function role(digit: string): Hex {
  return getAddress(`0x${digit.repeat(40)}`);
}

async function run(change: Readonly<Record<string, string>> = {}) {
  const values = {
    ...{ chain: 'local', rpc: anvil.url, 'chain-id': '31337', record: folder },
    ...{ operator, 'order-signer': role('2'), settler: role('3'), guardian: role('4') },
    ...{ 'fee-recipient': role('5'), 'deployer-keystore': join(folder, 'deployer.json') },
    'deployer-password-file': join(folder, 'password'),
    ...change,
  };
  const args = Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
  const outside = { environment: {}, clock: systemClock, random: systemRandom, folder: '/', tell: () => {} };
  return runCli(['deploy', '--json', ...args], outside);
}

function readRecordFile(): DeploymentRecord {
  return JSON.parse(readFileSync(join(folder, '31337.json'), 'utf8')) as DeploymentRecord;
}

test('a deployment is recorded as its schema says, with addresses that follow from the record', async () => {
  const { stdout } = await run();
  const record = readRecordFile();
  const schema = JSON.parse(
    readFileSync(new URL('../../../contracts/deployments/schema.json', import.meta.url), 'utf8'),
  ) as object;
  const isValid = new Ajv2020().compile(schema);
  assert.ok(isValid(record), JSON.stringify(isValid.errors));
  assert.deepEqual(Object.keys(record.contracts), [
    'GatewayFactory',
    'PaymentGateway',
    'PayoutVault',
    'CctpRoute',
  ]);
  for (const { address, creator: from, initCodeHash } of Object.values(record.contracts)) {
    const { salt } = record;
    assert.equal(getContractAddress({ opcode: 'CREATE2', from, salt, bytecodeHash: initCodeHash }), address);
  }
  const { PaymentGateway: gateway, PayoutVault: vault } = record.contracts;
  assert.deepEqual(JSON.parse(stdout), {
    ...{ name: 'local', chainId: '31337', gateway: gateway?.address, vault: vault?.address },
    startBlock: '1',
  });
  assert.equal(record.contracts['CctpRoute']?.parameters['gateway'], gateway?.address);
  await run();
  assert.deepEqual(readRecordFile(), record);
});

/** Runs `florin verify` for the record of the chain, without waiting between questions. */
function verifyAt(service: string, values: Readonly<Record<string, string>> = {}) {
  const given = { 'chain-id': '31337', record: folder, at: service, ...values };
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
  const clock = { ...systemClock, sleep: () => Promise.resolve() };
  const outside = { environment: {}, clock, random: systemRandom, folder: '/', tell: () => {} };
  return runCli(['verify', ...args], outside);
}

test('the sources of a deployment are published at Etherscan, a Blockscout and Sourcify', async () => {
  await run();
  const record = readRecordFile();
  const { compilerVersion, input } = readPublishedInput();
  writeFileSync(join(folder, 'key'), 'etherscan key\n');
  const paths = { etherscan: '/v2/api', blockscout: '', sourcify: '' };
  for (const [service, path] of Object.entries(paths)) {
    const verifier = await startVerifier('etherscan key');
    const options = { url: verifier.url + path, 'api-key-file': join(folder, 'key') };
    try {
      const expected = Object.values(record.contracts).map(({ address, source, constructorArguments }) => ({
        ...{ address, source, sources: input },
        compilerVersion: service === 'sourcify' ? compilerVersion : `v${compilerVersion}`,
        constructorArguments: service === 'sourcify' ? undefined : constructorArguments.slice(2),
      }));
      const verified = { exitCode: 0, stdout: `verified: ${Object.keys(record.contracts).join(', ')}\n` };
      for (const round of ['first', 'again']) {
        const { exitCode, stdout } = await verifyAt(service, options);
        assert.deepEqual({ exitCode, stdout }, verified, `${service}, ${round}`);
        assert.deepEqual(verifier.asked, expected, `${service}, ${round}`);
      }
      verifier.asked.length = 0;
      verifier.refusal = 'Fail - Unable to verify';
      const refused = await verifyAt(service, options);
      if (service !== 'blockscout')
        assert.match(refused.stderr, /refuses GatewayFactory at 0x\w+: Fail - Unable/);
    } finally {
      await verifier.close();
    }
  }
  for (const { constructorArguments, initCodeHash, source } of Object.values(record.contracts)) {
    const [, name = ''] = source.split(':');
    assert.equal(keccak256(concat([readArtifact(name).bytecode, constructorArguments])), initCodeHash);
  }
});

test('a verification that cannot begin says what is missing, and never shows the key', async () => {
  await run();
  writeFileSync(join(folder, 'wrong-key'), 'secret of someone\n');
  const verifier = await startVerifier('etherscan key');
  try {
    const wrongKey = { url: `${verifier.url}/v2/api`, 'api-key-file': join(folder, 'wrong-key') };
    const cases = [
      [{ at: 'etherscan' }, /Etherscan is not known to verify chain 31337: give --url/],
      [{ at: 'etherscan', url: verifier.url }, /Etherscan needs a key: give --api-key-file/],
      [{ at: 'etherscan', ...wrongKey }, /refuses GatewayFactory at 0x\w+: Invalid API Key/],
      [{ at: 'blockscout' }, /every Blockscout has its own address/],
      [{ at: 'sourcify', url: 'http://127.0.0.1:9' }, /http:\/\/127\.0\.0\.1:9 does not answer/],
      [{ at: 'sourcify', 'chain-id': '1' }, /has no record of chain 1: florin deploy writes it/],
    ] as const;
    for (const [{ at, ...values }, says] of cases) {
      const { exitCode, stderr } = await verifyAt(at, values);
      assert.notEqual(exitCode, 0);
      assert.match(stderr, says);
      assert.ok(!stderr.includes('secret of someone'));
    }
  } finally {
    await verifier.close();
  }
});

test('a record of other contracts is not overwritten', async () => {
  await run();
  const before = readRecordFile();
  const { exitCode, stdout } = await run({ operator: role('9') });
  assert.equal(exitCode, 1);
  assert.match(stdout, /31337\.json records the gateway 0x\w{40}, but this operator has 0x\w{40}: /);
  assert.deepEqual(readRecordFile(), before);
});

test('a controller without a key here is told what to send, and nothing is recorded', async () => {
  const record = join(folder, 'others');
  const { exitCode, stdout } = await run({ operator: role('6'), record });
  const { controller, transactions } = JSON.parse(stdout) as {
    controller: Hex;
    transactions: readonly { does: string; to: Hex; value: string; data: Hex }[];
  };
  assert.deepEqual([exitCode, controller, transactions.length], [0, role('6'), 9]);
  assert.deepEqual(transactions[3], {
    ...{ does: "sets the gateway's pause", to: transactions[0]?.to, value: '0', data: '0x3f4ba83a' },
  });
  assert.equal(existsSync(record), false);
});

test('a wrong password and a broken keystore are refused', async () => {
  writeFileSync(join(folder, 'wrong'), 'incorrect horse');
  writeFileSync(join(folder, 'broken.json'), '{}');
  const wrong = await run({ 'deployer-password-file': join(folder, 'wrong') });
  assert.match(wrong.stdout, /deployer\.json cannot be opened: the password is wrong/);
  const broken = await run({ 'deployer-keystore': join(folder, 'broken.json') });
  assert.match(broken.stdout, /broken\.json cannot be opened: /);
  assert.deepEqual([wrong.exitCode, broken.exitCode], [1, 1]);
});

test('a node of another chain than the one that was named is refused', async () => {
  const other = await run({ 'chain-id': '8453' });
  assert.deepEqual([other.exitCode, other.stderr], [1, '']);
  assert.deepEqual(JSON.parse(other.stdout), {
    error: {
      slug: 'failed',
      message: 'the node serves chain 31337, not 8453: correct --chain or --rpc',
    },
  });
  const none = await run({ 'chain-id': 'base' });
  assert.equal(none.exitCode, 2);
  assert.match(none.stdout, /"--chain-id is base: give a decimal number"/);
});
