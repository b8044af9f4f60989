import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resumeChain } from '@florin/evm';
import { ledgerBalances } from '#ledger/entry.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { lockWaitingLegs } from './leg.sql.ts';
import { settlementOutcome, settlementRound } from './settlement.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

async function statusOf(sessionId: string): Promise<readonly string[]> {
  const { status, pendingReason } = await world.session(sessionId);
  return [status, pendingReason];
}

test('a payment whose final block is reverted shows its session as waiting, and is settled only once it is back', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await world.dropFinal('ethereum', 1n);
  assert.deepEqual(await statusOf(sessionId), ['settlement_pending', 'reorged']);
  await settlementRound(world.deps, world.chain('ethereum'), 'settle');
  assert.deepEqual(
    [(await world.legs(order)).map(({ status }) => status), await world.sent(order)],
    [['waiting'], []],
    'nothing is sent for a payment that is gone',
  );
  await world.mineFinal('ethereum', ['Paid', order]);
  await settlementRound(world.deps, world.chain('ethereum'), 'settle');
  assert.deepEqual(
    [(await world.legs(order)).map(({ status }) => status), await statusOf(sessionId)],
    [['sent'], ['settling', '']],
  );
});

test('a settlement whose final block is reverted is made again, and everything is booked once', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await world.mineFinal('ethereum', ['Settled', order]);
  const booked = await ledgerBalances(world.database.db);
  assert.deepEqual(await statusOf(sessionId), ['completed', '']);
  await world.dropFinal('ethereum', 1n);
  assert.deepEqual(await statusOf(sessionId), ['settlement_pending', 'reorged']);
  assert.deepEqual(
    (await world.legs(order)).map(({ leg, status }) => [leg, status]),
    [['settle', 'waiting']],
  );
  await settlementRound(world.deps, world.chain('ethereum'), 'settle');
  await world.mineFinal('ethereum', ['Settled', order]);
  assert.deepEqual(await statusOf(sessionId), ['completed', '']);
  assert.deepEqual(await ledgerBalances(world.database.db), booked);
});

test('a payment that was taken back with its settlement is not told as settling before it is final again', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await world.mineFinal('ethereum', ['Settled', order]);
  await world.dropFinal('ethereum', 2n);
  const told = await world.eventsOf(sessionId);
  await world.mine('ethereum', ['Paid', order]);
  await world.mine('ethereum', ['Settled', order]);
  assert.deepEqual(await statusOf(sessionId), ['settlement_pending', 'reorged']);
  assert.deepEqual(await world.eventsOf(sessionId), told);
  await world.mineFinal('ethereum');
  assert.deepEqual(await statusOf(sessionId), ['completed', '']);
});

test('a vault pays nothing out while the payment or its settlement is gone', async () => {
  const sessionId = await world.openSession('base::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await world.mineFinal('ethereum', ['Settled', order]);
  await world.dropFinal('ethereum', 1n);
  await settlementRound(world.deps, world.chain('base'), 'payout');
  assert.deepEqual(
    (await world.legs(order)).map(({ leg, status }) => [leg, status]),
    [
      ['payout', 'waiting'],
      ['settle', 'waiting'],
    ],
  );
  assert.deepEqual(await world.sent(order), []);
  await world.mineFinal('ethereum', ['Settled', order]);
  await settlementRound(world.deps, world.chain('base'), 'payout');
  assert.deepEqual(
    (await world.sent(order)).map(({ leg }) => leg),
    ['payout'],
  );
});

test('a reverted settlement of ours continues with the transaction that made it', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await settlementRound(world.deps, world.chain('ethereum'), 'settle');
  const hash = await world.mineFinal('ethereum', ['Settled', order]);
  const transactionId = await world.finishTransactions(order, hash);
  await world.dropFinal('ethereum', 1n);
  assert.deepEqual(await statusOf(sessionId), ['settlement_pending', 'reorged']);
  assert.deepEqual(
    [(await world.legs(order)).map(({ status }) => status), await world.sent(order)],
    [
      ['sent'],
      [{ leg: 'settle', transaction_id: transactionId, recipient: world.chain('ethereum').gateway }],
    ],
  );
  await settlementRound(world.deps, world.chain('ethereum'), 'settle');
  await world.mineFinal('ethereum', ['Settled', order]);
  assert.deepEqual(await statusOf(sessionId), ['completed', '']);
});

test('a settlement is made again if its block is reverted before its event was read', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await settlementRound(world.deps, world.chain('ethereum'), 'settle');
  const hash = await world.mineFinal('ethereum');
  const transactionId = await world.finishTransactions(order, hash);
  await world.dropFinal('ethereum', 1n);
  const statusNow = async () => (await world.legs(order)).map(({ status }) => status);
  assert.deepEqual(await statusNow(), ['sent']);
  // Another transaction has its nonce on the remaining chain.
  const outcome = { transactionId, chainId: order.chainId, purpose: 'settle', status: 'superseded' } as const;
  await world.database.db.transaction((transaction) =>
    settlementOutcome(transaction, world.moves, { ...outcome, txHash: hash, blockTime: undefined }),
  );
  assert.deepEqual(await statusNow(), ['waiting']);
});

test('a vault pays nothing for a halted chain until its watcher has gone back, even when an operator resumes it', async () => {
  const sessionId = await world.openSession('base::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
  await world.halt('ethereum');
  await resumeChain(world.database.db, world.clock, world.chain('ethereum').chainId);
  await settlementRound(world.deps, world.chain('base'), 'payout');
  assert.deepEqual(await world.sent(order), []);
  const locked = await world.database.db.query(lockWaitingLegs, { orderIds: [order.orderId], leg: 'payout' });
  assert.deepEqual(locked, [], 'nor does what was planned before');
  await world.dropFinal('ethereum', 1n);
  await settlementRound(world.deps, world.chain('base'), 'payout');
  assert.deepEqual(await world.sent(order), [], 'the payment is gone');
  await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
  await settlementRound(world.deps, world.chain('base'), 'payout');
  assert.equal((await world.sent(order)).length, 1);
});
