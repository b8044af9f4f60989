import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type LyingRpc, startLyingRpc } from '@florin/evm/testing';
import { chainsOf } from '#chains/chain.ts';
import type { BooksStatus } from '#reconcile/status.ts';
import { Life } from './life.ts';
import { Payer } from './payer.ts';
import { ServiceProcess } from './service-process.ts';
import { checkout, closedRoutes } from './story-fixture.ts';

let life: Life;
let ethereumNode: LyingRpc;
let baseNode: LyingRpc;
before(async () => {
  life = await Life.start(async (options) => {
    const [ethereum, base] = options.chains.all;
    assert.ok(ethereum !== undefined && base !== undefined);
    ethereumNode ??= await startLyingRpc(ethereum.rpcUrls[0] ?? '');
    baseNode ??= await startLyingRpc(base.rpcUrls[0] ?? '');
    const chains = chainsOf([
      { ...ethereum, rpcUrls: [ethereumNode.url] },
      { ...base, rpcUrls: [baseNode.url] },
    ]);
    const service = new ServiceProcess({ ...options, chains });
    await service.start();
    return service;
  });
  life.mine();
});
after(async () => {
  await life.close();
  await Promise.all([ethereumNode.close(), baseNode.close()]);
});

async function checks(): Promise<unknown> {
  const response = await fetch(`${life.options.origin}/health/ready`);
  return [response.status, ((await response.json()) as { checks: unknown }).checks];
}

async function paymentsOf(chain: string): Promise<unknown> {
  const status = (await (await fetch(`${life.options.origin}/status`)).json()) as BooksStatus;
  const found = status.chains.find((each) => each.chain === chain);
  return [found?.payments, found?.paymentsReason];
}

test('a service that starts while a chain is away serves the other chain, and this one once it answers rightly', async () => {
  const payer = new Payer(life);
  const [onEthereum, onBase] = [life.ethereum.token('usdc'), life.base.token('usdc')];
  await payer.fund(life.ethereum, onEthereum, 10_000_000n);
  await payer.fund(life.base, onBase, 10_000_000n);
  const waiting = await checkout(life, 1_000_000, onEthereum.tokenId);
  const prepared = await payer.prepare(waiting, onEthereum);
  const unsigned = await checkout(life, 1_000_000, onEthereum.tokenId);

  await life.stopService();
  // Paid on a chain that the new process cannot read.
  await payer.execute(life.ethereum, prepared);
  ethereumNode.faults.cutOff = true;
  await life.startService();
  const health = (ethereum: string, base = 'ok') => [
    200,
    { database: 'ok', 'chain ethereum': ethereum, 'chain base': base },
  ];
  assert.deepEqual(await checks(), health('unreachable'));
  assert.deepEqual(await paymentsOf('ethereum'), ['unavailable', 'chain_unverified']);
  assert.deepEqual(await paymentsOf('base'), ['available', '']);
  const productData = { productName: 'Cup' };
  const refused = await life.call('POST', '/session/checkout/create', {
    accountId: life.accountId,
    settlementToken: onEthereum.tokenId,
    lineItems: [{ itemType: 'one_time', quantity: 1, unitPrice: 1_000_000, productData }],
  });
  assert.deepEqual([refused.code, refused.data], [900401, null]);
  const prepare = async () =>
    (await payer.ask('POST', '/payment/prepare', await payer.preparation(unsigned, onEthereum))).code;
  assert.equal(await prepare(), 900401);
  const served = await checkout(life, 1_000_000, onBase.tokenId);
  await payer.execute(life.base, await payer.prepare(served, onBase));
  await life.sessionIn(served, 'completed');

  // Its node answers, and wrongly: still nothing is offered there, and the service goes on.
  Object.assign(ethereumNode.faults, { cutOff: false, wrongChainId: true });
  await life.eventually(
    checks,
    (found) => JSON.stringify(found) === JSON.stringify(health('misconfigured')),
    'the wrong chain in the health',
  );
  assert.equal(await prepare(), 900401);

  ethereumNode.faults.wrongChainId = false;
  await life.sessionIn(waiting, 'completed');
  assert.deepEqual(await checks(), health('ok'));
  await life.eventually(
    () => closedRoutes(life),
    (routes) => routes.length === 0,
    'all chains in the capabilities',
  );
  await payer.prepare(unsigned, onEthereum);
});

test('a service that starts while every chain is away answers, and offers none of them', async () => {
  await life.stopService();
  for (const { faults } of [ethereumNode, baseNode]) faults.cutOff = true;
  await life.startService();
  assert.deepEqual(await checks(), [
    200,
    { database: 'ok', 'chain ethereum': 'unreachable', 'chain base': 'unreachable' },
  ]);
  for (const name of ['ethereum', 'base'])
    assert.deepEqual(await paymentsOf(name), ['unavailable', 'chain_unverified']);
  for (const { faults } of [ethereumNode, baseNode]) faults.cutOff = false;
  await life.eventually(
    () => closedRoutes(life),
    (routes) => routes.length === 0,
    'both chains in the capabilities',
  );
});
