import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { systemClock, systemRandom } from '@florin/server/operator';
import { type FakeSigner, startKms, startWeb3Signer } from '@florin/signing/testing';
import { type Abi, decodeFunctionResult, encodeFunctionData, getAddress } from 'viem';
import { runCli } from './cli.ts';
import type { DeploymentRecord } from './deployment-record.ts';

const multisig = role('6');
const credentials = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' };
const earlier = Object.keys(credentials).map((name) => [name, process.env[name]] as const);
let anvil: Anvil;
let folder: string;
let web3: FakeSigner;
let kms: FakeSigner & { readonly keyId: string };
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'florin-remote-'));
  Object.assign(process.env, credentials);
  [anvil, web3, kms] = await Promise.all([startTestAnvil({ automine: true }), startWeb3Signer(), startKms()]);
  for (const { address } of [web3, kms])
    await anvil.request('anvil_setBalance', [address, '0x56bc75e2d63100000']);
  // Any contract can replace a multisig here: it only needs code.
  await anvil.request('anvil_setCode', [multisig, '0x00']);
});
after(async () => {
  await Promise.all([anvil.close(), web3.close(), kms.close()]);
  for (const [name, value] of earlier) {
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  }
  rmSync(folder, { recursive: true });
});

function role(digit: string): Hex {
  return getAddress(`0x${digit.repeat(40)}`);
}

/** A file that describes a remote signer as the configuration does. */
function signerFile(name: string, settings: object): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(settings));
  return file;
}

const web3File = () => signerFile('web3', { kind: 'web3signer', url: web3.url, address: web3.address });
const kmsFile = () => {
  const place = { region: 'eu-central-1', keyId: kms.keyId, endpoint: kms.url };
  return signerFile('kms', { kind: 'aws_kms', ...place, address: kms.address });
};

function run(command: string, values: Readonly<Record<string, string>>) {
  const given = { rpc: anvil.url, 'chain-id': '31337', record: folder, ...values };
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
  const outside = { environment: {}, clock: systemClock, random: systemRandom, folder: '/', tell: () => {} };
  return runCli([command, '--json', ...args], outside);
}

async function ask(gateway: Hex, functionName: string, args: readonly unknown[] = []): Promise<unknown> {
  const abi = paymentGatewayAbi as Abi;
  const call = { to: gateway, data: encodeFunctionData({ abi, functionName, args }) };
  const data = (await anvil.request('eth_call', [call, 'latest'])) as Hex;
  return decodeFunctionResult({ abi, functionName, data });
}

test('remote signers alone deploy the contracts, set them up and hand them over', async () => {
  const { exitCode, stdout, stderr } = await run('deploy', {
    ...{ chain: 'local', operator: kms.address, 'order-signer': role('2'), settler: role('3') },
    ...{ guardian: role('4'), 'fee-recipient': role('5') },
    ...{ 'deployer-signer': web3File(), 'controller-signer': kmsFile() },
  });
  assert.equal(exitCode, 0, stdout + stderr);
  const file = readFileSync(join(folder, '31337.json'), 'utf8');
  const { contracts, controller } = JSON.parse(file) as DeploymentRecord;
  const gateway = contracts['PaymentGateway']?.address;
  const vault = contracts['PayoutVault']?.address;
  assert.ok(gateway !== undefined && vault !== undefined);
  assert.equal(controller, kms.address);
  assert.equal(await ask(gateway, 'isSigner', [role('2')]), true);
  assert.equal(await ask(gateway, 'paused'), false);

  const places = { gateway, vault, to: multisig };
  const offered = await run('handover', { ...places, 'controller-signer': kmsFile() });
  assert.equal(offered.exitCode, 0, offered.stdout + offered.stderr);
  const { state } = JSON.parse(offered.stdout) as { state: string };
  assert.equal(state, 'offered');
  const timelock = (await ask(gateway, 'pendingController')) as Hex;
  assert.notEqual(await anvil.request('eth_getCode', [timelock, 'latest']), '0x');
});

test('a remote signer that signs with another key than it says sends nothing, and is told', async () => {
  const height = await anvil.request('eth_blockNumber');
  kms.faults.hasOtherKey = true;
  try {
    // The handover begins with a time lock of its own for this delay.
    const places = { gateway: role('7'), vault: role('8'), to: multisig, 'min-delay': '3600' };
    const { exitCode, stdout } = await run('handover', { ...places, 'controller-signer': kmsFile() });
    assert.equal(exitCode, 1);
    assert.match(stdout, /the remote signer has signed nothing: .*another key/);
  } finally {
    kms.faults.hasOtherKey = false;
  }
  assert.equal(await anvil.request('eth_blockNumber'), height);
});
