import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Anvil, startTestAnvil } from '@florin/evm/testing';
import { erc20Abi, paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { deploymentCall, planContract, systemClock, systemRandom } from '@florin/server/operator';
import { encryptKeystore } from '@florin/signing';
import { startWeb3Signer } from '@florin/signing/testing';
import { type Abi, decodeFunctionResult, encodeFunctionData, getAddress } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { runCli } from './cli.ts';
import { type Deployment, deployContracts } from './deploy.ts';
import type { OperatorOutcome } from './operator-call.ts';

let anvil: Anvil;
let folder: string;
let deployment: Deployment;
const keyOf = (digit: string): Hex => `0x${digit.repeat(64)}`;
const addressOf = (digit: string): Hex => privateKeyToAddress(keyOf(digit));
const [controller, guardian, next] = [addressOf('a'), addressOf('b'), addressOf('c')];
const [signer, settler] = [role('2'), role('3')];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'florin-operator-'));
  anvil = await startTestAnvil({ automine: true });
  writeFileSync(join(folder, 'password'), 'correct horse');
  for (const digit of ['a', 'b', 'c']) {
    const secrets = { privateKey: keyOf(digit), password: 'correct horse' };
    writeFileSync(join(folder, addressOf(digit)), encryptKeystore(systemRandom, secrets, { scryptN: 2 }));
    await anvil.request('anvil_setBalance', [addressOf(digit), '0x56bc75e2d63100000']);
    await anvil.request('anvil_impersonateAccount', [addressOf(digit)]);
  }
  deployment = await deployContracts({
    ...{ request: anvil.request, chainId: anvil.chainId, log: () => {} },
    ...{ deployerKey: keyOf('a'), operatorId: controller },
    roles: { orderSigner: signer, settler, guardian, feeRecipient: role('5') },
  });
});
after(async () => {
  await anvil.close();
  rmSync(folder, { recursive: true });
});

function role(digit: string): Hex {
  return getAddress(`0x${digit.repeat(40)}`);
}

/** Runs `florin operator …` with the key of `by`, or without a key. */
async function run(name: string, values: Readonly<Record<string, string>>, by?: Hex) {
  const key =
    by === undefined ? {} : { keystore: join(folder, by), 'password-file': join(folder, 'password') };
  const args = [
    ...Object.entries({ rpc: anvil.url, 'chain-id': String(anvil.chainId), ...places(), ...values }),
    ...Object.entries(key).map(([option, value]) => [`controller-${option}`, value] as const),
  ].flatMap(([option, value]) => [`--${option}`, value]);
  const outside = { environment: {}, clock: systemClock, random: systemRandom, folder: '/', tell: () => {} };
  const { exitCode, stdout } = await runCli(['operator', ...name.split(' '), '--json', ...args], outside);
  return { exitCode, stdout, outcome: JSON.parse(stdout) as OperatorOutcome };
}

/** The chain mines at once, but answers the sender slightly earlier. */
async function send(transaction: {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
  readonly gas?: Hex;
}) {
  const hash = await anvil.request('eth_sendTransaction', [transaction]);
  for (;;) {
    const receipt = (await anvil.request('eth_getTransactionReceipt', [hash])) as { status: Hex } | null;
    if (receipt === null) continue;
    assert.equal(receipt.status, '0x1');
    return;
  }
}

function places() {
  return { gateway: deployment.gateway, vault: deployment.vault };
}

async function read(
  to: Hex,
  abi: Abi,
  functionName: string,
  args: readonly unknown[] = [],
): Promise<unknown> {
  const data = encodeFunctionData({ abi, functionName, args });
  const answer = (await anvil.request('eth_call', [{ to, data }, 'latest'])) as Hex;
  return decodeFunctionResult({ abi, functionName, data: answer });
}

/** What gateway and vault say of an account, or of themselves. */
async function both(getter: string, args: readonly unknown[] = []): Promise<unknown[]> {
  const { gateway, vault } = deployment;
  return [
    await read(gateway, paymentGatewayAbi as Abi, getter, args),
    await read(vault, payoutVaultAbi as Abi, getter, args),
  ];
}

test('signers and settlers are rotated on gateway and vault, and a repeat sends nothing', async () => {
  const [newSigner, newSettler] = [role('6'), role('7')];
  assert.equal((await run('signer', { grant: newSigner }, controller)).outcome.sent.length, 2);
  assert.equal((await run('settler', { grant: newSettler }, controller)).outcome.sent.length, 2);
  await run('signer', { revoke: signer }, controller);
  await run('settler', { revoke: settler }, controller);
  assert.deepEqual(await both('isSigner', [newSigner]), [true, true]);
  assert.deepEqual(await both('isSigner', [signer]), [false, false]);
  assert.deepEqual(await both('isSettler', [newSettler]), [true, true]);
  assert.deepEqual(await both('isSettler', [settler]), [false, false]);
  const height = await anvil.request('eth_blockNumber');
  assert.deepEqual((await run('signer', { grant: newSigner }, controller)).outcome, { sent: [], unsent: [] });
  assert.equal(await anvil.request('eth_blockNumber'), height);
});

test('without a key the transactions are printed, and whoever sends them has the same effect', async () => {
  const height = await anvil.request('eth_blockNumber');
  const { outcome } = await run('guardian', { to: role('8') });
  assert.deepEqual(outcome.sent, []);
  assert.deepEqual(
    outcome.unsent.map(({ from, to, value }) => [from, to, value]),
    [
      [controller, deployment.gateway, '0'],
      [controller, deployment.vault, '0'],
    ],
  );
  assert.equal(await anvil.request('eth_blockNumber'), height);
  for (const { from, to, data } of outcome.unsent) await send({ from, to, data });
  assert.deepEqual(await both('guardian'), [role('8'), role('8')]);
  await run('guardian', { to: guardian }, controller);
});

test('caps are set and float is withdrawn', async () => {
  const usdc = planContract('LocalUsdc', { name: 'USD Coin', symbol: 'USDC', minter: controller });
  const from = controller;
  await send({ from, gas: '0x7a1200', ...deploymentCall(usdc) });
  const mint = { abi: usdc.artifact.abi, functionName: 'mint', args: [deployment.vault, 70n] };
  await send({ from, to: usdc.address, data: encodeFunctionData(mint) });
  const token = usdc.address;
  await run('caps', { token, 'per-order': '10', hourly: '20', daily: '30' }, controller);
  const caps = await read(deployment.vault, payoutVaultAbi as Abi, 'capsOf', [token]);
  assert.deepEqual(caps, { perOrder: 10n, hourly: 20n, daily: 30n });
  assert.equal(
    (await run('withdraw', { token, to: role('9'), amount: '50' }, controller)).outcome.sent.length,
    1,
  );
  assert.equal(await read(token, erc20Abi as Abi, 'balanceOf', [role('9')]), 50n);
  const { exitCode } = await run('withdraw', { token, to: role('9'), amount: '21' }, controller);
  assert.equal(exitCode, 1);
  assert.equal(await read(token, erc20Abi as Abi, 'balanceOf', [deployment.vault]), 20n);
});

test('the fee recipient is replaced', async () => {
  await run('fee-recipient', { to: role('4') }, controller);
  assert.equal(await read(deployment.gateway, paymentGatewayAbi as Abi, 'feeRecipient'), role('4'));
});

test('the guardian pauses and revokes, and can neither grant nor unpause', async () => {
  assert.equal((await run('pause', {}, guardian)).outcome.sent.length, 2);
  assert.deepEqual(await both('paused'), [true, true]);
  await run('settler', { revoke: role('7') }, guardian);
  assert.deepEqual(await both('isSettler', [role('7')]), [false, false]);
  for (const [name, values] of [
    ['unpause', {}],
    ['settler', { grant: guardian }],
    ['signer', { grant: guardian }],
    ['fee-recipient', { to: guardian }],
    ['offer', { to: guardian }],
  ] as const) {
    const { exitCode, stdout } = await run(name, values, guardian);
    assert.equal(exitCode, 1, name);
    assert.match(
      stdout,
      new RegExp(`${guardian} may not call \\w+ of 0x\\w{40}: its controller is ${controller}`),
    );
  }
  await run('unpause', {}, controller);
  assert.deepEqual(await both('paused'), [false, false]);
});

test('bad input is refused before anything is sent', async () => {
  const height = await anvil.request('eth_blockNumber');
  const token = role('1');
  for (const [name, values, message] of [
    ['signer', {}, 'give either --grant or --revoke'],
    ['signer', { grant: signer, revoke: signer }, 'give either --grant or --revoke'],
    ['settler', { grant: `0x${'00'.repeat(20)}` }, '--grant is 0x0{40}: give an EVM address'],
    [
      'caps',
      { token, 'per-order': '1.5', hourly: '2', daily: '3' },
      '--per-order is 1.5: give a whole number',
    ],
    [
      'caps',
      { token, 'per-order': '1', hourly: '2', daily: String(2n ** 112n) },
      '--daily is \\d+: give a whole',
    ],
    ['withdraw', { token, to: signer, amount: '0' }, '--amount is 0: give what is to be withdrawn'],
    ['offer', { to: next, gateway: '0x1' }, '--gateway is 0x1: give an EVM address'],
  ] as const) {
    const { exitCode, stdout } = await run(name, values, controller);
    assert.equal(exitCode, 2, name);
    assert.match(stdout, new RegExp(message));
  }
  assert.equal(await anvil.request('eth_blockNumber'), height);
});

test('the control changes in two steps, and the old key has no power afterwards', async () => {
  await run('offer', { to: next }, controller);
  assert.deepEqual(await both('controller'), [controller, controller]);
  const early = await run('accept', { controller: next }, controller);
  assert.match(early.stdout, new RegExp(`its pendingController is ${next}`));
  await run('accept', { controller: next }, next);
  assert.deepEqual(await both('controller'), [next, next]);
  const late = await run('pause', {}, controller);
  assert.equal(late.exitCode, 1);
  assert.match(late.stdout, new RegExp(`its controller is ${next}`));
});

test('a remote signer makes the calls in place of a keystore, and another key is refused', async () => {
  const remote = await startWeb3Signer();
  const file = join(folder, 'remote.json');
  const write = (address: Hex) =>
    writeFileSync(file, JSON.stringify({ kind: 'web3signer', url: remote.url, address }));
  try {
    write(remote.address);
    await anvil.request('anvil_setBalance', [remote.address, '0x56bc75e2d63100000']);
    await run('guardian', { to: remote.address }, next);
    const values = { revoke: role('9'), 'controller-signer': file };
    await run('signer', { grant: role('9') }, next);
    const { exitCode, outcome } = await run('signer', values);
    assert.equal(exitCode, 0);
    assert.equal(outcome.sent.length, 2);
    write(next);
    const { exitCode: refused } = await runCli(
      ['operator', 'pause', '--rpc', anvil.url, '--chain-id', String(anvil.chainId)].concat(
        Object.entries({ ...places(), 'controller-signer': file }).flatMap(([name, value]) => [
          `--${name}`,
          value,
        ]),
      ),
      { environment: {}, clock: systemClock, random: systemRandom, folder: '/', tell: () => {} },
    );
    assert.notEqual(refused, 0);
    assert.equal((await run('guardian', { to: guardian }, next)).exitCode, 0);
  } finally {
    await remote.close();
  }
});
