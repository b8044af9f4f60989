import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { findFreePort } from '@florin/world';
import { encodeFunctionData } from 'viem';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import { findOrder } from '#orders/order.ts';
import { type Service, startService } from '../../src/service/service.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { Life } from './life.ts';
import type { LifeChain } from './life-chain.ts';
import { Payer } from './payer.ts';
import { checkout } from './story-fixture.ts';

let life: Life;
before(async () => {
  life = await Life.start();
});
after(() => life.close());

/** Calldata with which anyone settles an order, or returns it to its payer. */
async function callOf(name: 'settle' | 'reclaim', orderId: string): Promise<Hex> {
  const stored = await findOrder(life.database.db, orderId);
  if (stored === undefined) throw new Error(`no order ${orderId}`);
  return name === 'settle'
    ? encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'settle', args: [[stored.order]] })
    : encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'reclaim', args: [stored.order] });
}

async function settleBy(stranger: Payer, chain: LifeChain, orderId: string): Promise<string> {
  return stranger.send(chain, {
    chainId: String(chain.chain.chainId),
    to: chain.chain.gateway,
    data: await callOf('settle', orderId),
    value: '0',
  });
}

async function fundedPayer(chain: LifeChain, symbol: string): Promise<Payer> {
  const payer = new Payer(life);
  await payer.fund(chain, chain.token(symbol), 10_000_000n);
  return payer;
}

test('a third party that tries to settle in the block of the payment changes nothing', deepOnly, async () => {
  const payer = await fundedPayer(life.ethereum, 'usdc');
  const stranger = await fundedPayer(life.ethereum, 'usdc');
  const sessionId = await checkout(life, 1_000_000);
  const prepared = await payer.prepare(sessionId, life.ethereum.token('usdc'));
  await payer.execute(life.ethereum, prepared);
  const triedTx = await settleBy(
    stranger,
    life.ethereum,
    prepared.aiView.paymentExecutionGuide.order.orderId,
  );
  life.mine();
  const done = await life.sessionIn(sessionId, 'completed');
  await life.pauseMining();
  assert.notEqual(done.session.completeTx, triedTx);
  const events = await life.eventOf(sessionId, 'session.completed');
  assert.deepEqual(
    events.map((event) => event.type),
    ['session.created', 'session.payment_detected', 'session.paid', 'session.settling', 'session.completed'],
  );
});

test(
  'a third party that tries to settle an order for another chain changes nothing for the merchant',
  deepOnly,
  async () => {
    const payer = await fundedPayer(life.ethereum, 'usdc');
    const stranger = await fundedPayer(life.ethereum, 'usdc');
    const held = await life.base.balanceOf(life.base.token('usdc'), life.merchantWallet);
    const sessionId = await checkout(life, 1_000_000, 'base::usdc');
    const prepared = await payer.prepare(sessionId, life.ethereum.token('usdc'));
    await payer.execute(life.ethereum, prepared);
    await settleBy(stranger, life.ethereum, prepared.aiView.paymentExecutionGuide.order.orderId);
    life.mine();
    await life.sessionIn(sessionId, 'completed');
    await life.pauseMining();
    const now = await life.base.balanceOf(life.base.token('usdc'), life.merchantWallet);
    assert.equal(now - held, 994_000n);
    const events = await life.eventOf(sessionId, 'session.completed');
    assert.deepEqual(
      events.map((event) => event.type),
      [
        'session.created',
        'session.payment_detected',
        'session.paid',
        'session.settling',
        'session.completed',
      ],
    );
  },
);

test('two services on one database settle each of many payments once', deepOnly, async () => {
  const port = await findFreePort();
  const second: Service = await startService({
    ...life.options,
    origin: `http://127.0.0.1:${port}`,
    http: { host: '127.0.0.1', port },
  });
  try {
    const count = 12;
    const heldBefore = await life.ethereum.balanceOf(life.ethereum.token('usdc'), life.merchantWallet);
    const sessions: { sessionId: string; payer: Payer }[] = [];
    life.mine();
    for (let index = 0; index < count; index += 1) {
      const chain = index % 3 === 2 ? life.base : life.ethereum;
      const payer = await fundedPayer(chain, 'usdc');
      const sessionId = await checkout(life, 1_000_000, 'ethereum::usdc');
      await payer.execute(chain, await payer.prepare(sessionId, chain.token('usdc')));
      sessions.push({ sessionId, payer });
    }
    for (const { sessionId } of sessions) {
      await life.sessionIn(sessionId, 'completed');
      const events = await life.eventOf(sessionId, 'session.completed');
      assert.deepEqual(
        events.map((event) => `${event.sequence} ${event.type}`),
        [
          '1 session.created',
          '2 session.payment_detected',
          '3 session.paid',
          '4 session.settling',
          '5 session.completed',
        ],
      );
    }
    await life.pauseMining();
    const held = await life.ethereum.balanceOf(life.ethereum.token('usdc'), life.merchantWallet);
    assert.equal(held - heldBefore, 8n * 998_000n + 4n * 994_000n);
  } finally {
    await second.stop();
  }
  const { db } = life.database;
  assert.deepEqual(
    (await ledgerSums(db)).filter((sum) => sum.total !== 0n),
    [],
  );
  const gateway = (await ledgerBalances(db)).find(
    (balance) => balance.account === 'gateway:ethereum' && balance.asset === 'ethereum::usdc',
  );
  assert.equal(
    gateway?.balance,
    await life.ethereum.balanceOf(life.ethereum.token('usdc'), life.ethereum.chain.gateway),
  );
});

// The last two move the time of a chain ahead.
// proves W4.19
test('a third party that settles a day after the payment, before us, completes the session once, with events in order', async () => {
  const payer = await fundedPayer(life.base, 'usdc');
  const stranger = await fundedPayer(life.base, 'usdc');
  const sessionId = await checkout(life, 1_000_000, 'base::usdc');
  const prepared = await payer.prepare(sessionId, life.base.token('usdc'));
  await payer.execute(life.base, prepared);
  await life.base.anvil.mine();
  // The payment is in a block, but not final yet, so we send nothing.
  await life.base.anvil.request('evm_increaseTime', [86_400]);
  const { orderId } = prepared.aiView.paymentExecutionGuide.order;
  const settleTx = await settleBy(stranger, life.base, orderId);
  life.mine();
  const done = await life.sessionIn(sessionId, 'completed');
  await life.pauseMining();
  assert.equal(done.session.completeTx, settleTx);
  const events = await life.eventOf(sessionId, 'session.completed');
  // The payment becomes final before the stranger's settlement, so that we may begin one of our own between them.
  assert.deepEqual(
    events.map((event) => event.type).filter((type) => type !== 'session.settling'),
    ['session.created', 'session.payment_detected', 'session.paid', 'session.completed'],
  );
});

test('an unsettled payment that anyone reclaims goes back to its payer, and no merchant is paid', async () => {
  const payer = await fundedPayer(life.ethereum, 'usdt');
  const token = life.ethereum.token('usdt');
  const sessionId = await checkout(life, 1_000_000, token.tokenId);
  const held = await life.ethereum.balanceOf(token, life.merchantWallet);
  const prepared = await payer.prepare(sessionId, token);
  await payer.execute(life.ethereum, prepared);
  await life.ethereum.anvil.mine();
  const { orderId } = prepared.aiView.paymentExecutionGuide.order;
  await life.ethereum.anvil.request('evm_increaseTime', [604_800 + 3_600]);
  const stranger = await fundedPayer(life.ethereum, 'usdc');
  await stranger.send(life.ethereum, {
    chainId: String(life.ethereum.chain.chainId),
    to: life.ethereum.chain.gateway,
    data: await callOf('reclaim', orderId),
    value: '0',
  });
  life.mine();
  const events = await life.eventOf(sessionId, 'session.exception');
  await life.pauseMining();
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 10_000_000n);
  assert.equal(await life.ethereum.balanceOf(token, life.merchantWallet), held);
  assert.equal(events.filter((event) => event.type === 'session.paid').length, 1);
  assert.equal(events.filter((event) => event.type === 'session.completed').length, 0);
});
