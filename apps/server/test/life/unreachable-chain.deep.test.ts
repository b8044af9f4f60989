import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type LyingRpc, startLyingRpc } from '@florin/evm/testing';
import type { Token } from '@florin/protocol/token.ts';
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

/** Every place that says whether payments of a session are taken on a chain, as the public sees it. */
async function saidOf(
  { chainName, tokenId, address }: Token,
  sessionId: string,
  payer: string,
): Promise<unknown> {
  const { origin } = life.options;
  const { checks: health } = (await (await fetch(`${origin}/health/ready`)).json()) as {
    checks: Record<string, string>;
  };
  const metrics = await (await fetch(`${origin}/status/metrics`)).text();
  const closed = await closedRoutes(life);
  const page = (await (await fetch(`${origin}/checkout/api/session/${sessionId}`)).json()) as {
    data: { options: { tokenId: string; status: string }[] };
  };
  const agent = (await (await fetch(`${origin}/aipay/api/v1/session/${sessionId}`)).json()) as {
    aiView: { completePaymentSessionGuide: { supportedPaymentTokens: Offered[] } };
  };
  const offered = agent.aiView.completePaymentSessionGuide.supportedPaymentTokens;
  const x402 = await fetch(`${origin}/aipay/x402/session/${sessionId}?payer=${payer}`);
  return {
    health: health[`chain ${chainName}`],
    status: await paymentsOf(chainName),
    metric: new RegExp(`florin_payments_available{chain="${chainName}"} (\\d)`).exec(metrics)?.[1],
    capabilities: closed.some((route) => route.startsWith(`${tokenId} to ${tokenId}`)),
    page: page.data.options.find((option) => option.tokenId === tokenId)?.status,
    agent: offered
      .filter((offer) => offer.chainName === chainName && offer.tokenAddress === address)
      .map(({ status, statusReason }) => [status, statusReason]),
    x402: x402.status,
  };
}

interface Offered {
  readonly chainName: string;
  readonly tokenAddress: string;
  readonly status: string;
  readonly statusReason: string;
}

// proves W1.15
test('a chain whose node stops answering takes no new payments until it answers, and every view says so', async () => {
  const payer = new Payer(life);
  const onBase = life.base.token('usdc');
  await payer.fund(life.base, onBase, 10_000_000n);
  const sessionId = await checkout(life, 1_000_000, onBase.tokenId);
  const isSaid = (wanted: object) => (found: unknown) => JSON.stringify(found) === JSON.stringify(wanted);
  const whenOpen = {
    health: 'ok',
    status: ['available', ''],
    metric: '1',
    capabilities: false,
    page: 'available',
    agent: [['available', '']],
    x402: 402,
  };
  await life.eventually(() => saidOf(onBase, sessionId, payer.address), isSaid(whenOpen), 'the open chain');

  // The process takes connections and answers nothing.
  life.base.anvil.pause(true);
  try {
    const whenClosed = {
      health: 'unreachable',
      status: ['unavailable', 'chain_unreachable'],
      metric: '0',
      capabilities: true,
      page: 'unavailable',
      agent: [['unavailable', 'chain_unreachable']],
      x402: 503,
    };
    await life.eventually(
      () => saidOf(onBase, sessionId, payer.address),
      isSaid(whenClosed),
      'the closed chain',
    );
    const prepared = await payer.ask('POST', '/payment/prepare', await payer.preparation(sessionId, onBase));
    assert.deepEqual(
      [prepared.code, prepared.message],
      [900401, 'Chain temporarily unavailable: base::usdc to base::usdc: chain_unreachable'],
    );
  } finally {
    life.base.anvil.pause(false);
  }
  await life.eventually(
    () => saidOf(onBase, sessionId, payer.address),
    isSaid(whenOpen),
    'the chain that is open again',
  );
  await payer.execute(life.base, await payer.prepare(sessionId, onBase));
  await life.sessionIn(sessionId, 'completed');
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
