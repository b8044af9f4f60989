import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import type { Hex } from '@florin/protocol/order.ts';
import { systemClock, systemRandom } from '@florin/server/operator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { getAddress, getContractAddress } from 'viem';
import { runCli } from './cli.ts';
import type { DeploymentRecord } from './deployment-record.ts';

let anvil: Anvil;
let folder: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'florin-deploy-'));
  anvil = await startTestAnvil({ automine: true });
  writeFileSync(join(folder, 'deployer.key'), `${anvil.accounts[0]?.privateKey}\n`, { mode: 0o600 });
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
    ...{ admin: role('1'), 'order-signer': role('2'), settler: role('3'), guardian: role('4') },
    ...{ 'fee-recipient': role('5'), 'deployer-key-file': join(folder, 'deployer.key') },
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
  assert.deepEqual(Object.keys(record.contracts), ['PayoutVault', 'PaymentGateway', 'CctpRoute']);
  for (const { address, initCodeHash } of Object.values(record.contracts)) {
    const { create2Deployer: from, salt } = record;
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

test('a record of other contracts is not overwritten', async () => {
  await run();
  const before = readRecordFile();
  const { exitCode, stdout } = await run({ guardian: role('9') });
  assert.equal(exitCode, 1);
  assert.match(stdout, /31337\.json records the gateway 0x\w{40}, but these roles give 0x\w{40}: /);
  assert.deepEqual(readRecordFile(), before);
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
