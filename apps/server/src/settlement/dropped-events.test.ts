import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resumeChain } from '@florin/evm';
import { statement } from '@florin/pg';
import { ledgerBalances } from '#ledger/entry.ts';
import { endLostPayments } from '#sessions/lost-payment.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { lockWaitingLegs } from './leg.sql.ts';
import { settlementOutcome, settlementRound } from './settlement.ts';

const putFinalTime = statement({
  name: 'dropped_events_test_final_time',
  parameters: { chainId: 'int8', finalTime: 'timestamptz' },
  text: 'update chain_cursors set final_time = :finalTime where chain_id = :chainId',
});

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

async function statusOf(sessionId: string): Promise<readonly string[]> {
  const { status, pendingReason } = await world.session(sessionId);
  return [status, pendingReason];
}

test('a payment whose final block is reverted is told as gone, and is settled only once it is back', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order]);
  await world.dropFinal('ethereum', 1n);
  assert.deepEqual(await statusOf(sessionId), ['settlement_pending', 'payment_reorged']);
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
  assert.deepEqual(await statusOf(sessionId), ['settlement_pending', 'payment_reorged']);
  assert.deepEqual(await world.eventsOf(sessionId), told);
  await world.mineFinal('ethereum');
  assert.deepEqual(await statusOf(sessionId), ['completed', '']);
});

test('a payment that was taken back with its settlement is told once as gone, and as paid by its new transaction once it is back', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  const lostHash = await world.mineFinal('ethereum', ['Paid', order]);
  await world.mineFinal('ethereum', ['Settled', order]);
  const paid = await world.session(sessionId);
  await world.dropFinal('ethereum', 2n);
  const lost = await world.session(sessionId);
  assert.deepEqual(
    [lost.pendingReason, lost.initiateTx, lost.completeTx, lost.settlementSucceededAt],
    ['payment_reorged', lostHash, '', undefined],
  );
  const hash = await world.mineFinal('ethereum', ['Paid', order]);
  const { status, pendingReason, initiateTx, receiptId } = await world.session(sessionId);
  assert.deepEqual(
    [status, pendingReason, initiateTx, receiptId],
    ['settlement_pending', 'reorged', hash, paid.receiptId],
  );
  await world.mineFinal('ethereum', ['Settled', order]);
  assert.deepEqual(await world.eventsOf(sessionId), [
    ...['session.created', 'session.payment_detected', 'session.paid', 'session.completed'],
    ...['session.settlement_pending', 'session.settlement_pending', 'session.settling', 'session.completed'],
  ]);
});

test('a payment that is gone ends its session unpaid once a final block is later than its deadline, and is settled if it returns', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
  await world.dropFinal('ethereum', 1n);
  const end = () =>
    world.database.db.transaction((transaction) => endLostPayments(transaction, world.moves, 10));
  const finalAt = (seconds: bigint) =>
    world.database.db.query(putFinalTime, {
      chainId: order.chainId,
      finalTime: new Date(Number(order.order.payBy + seconds) * 1_000),
    });
  await finalAt(0n);
  assert.equal(await end(), 0, 'a block of this second may have the payment');
  await finalAt(1n);
  await world.mine('ethereum', ['Paid', order]);
  assert.equal(await end(), 0, 'the payment is in a block');
  await world.reorg('ethereum');
  await world.halt('ethereum');
  assert.equal(await end(), 0, 'the chain is halted');
  await resumeChain(world.database.db, world.clock, order.chainId);
  await world.dropFinal('ethereum', 0n);
  await finalAt(1n);
  assert.equal(await end(), 1);
  const { status, orderId, payer, receiptId, initiateTx, paymentSucceededAt } =
    await world.session(sessionId);
  assert.deepEqual(
    [status, orderId, payer, receiptId, initiateTx, paymentSucceededAt],
    ['expired', order.orderId, '', '', '', undefined],
  );
  assert.equal((await world.eventsOf(sessionId)).at(-1), 'session.expired');
  assert.equal(await end(), 0);

  // Another such reorg brings blocks from before the deadline again.
  const hash = await world.mineFinal('ethereum', ['Paid', order]);
  assert.deepEqual(await statusOf(sessionId), ['settlement_pending', 'reorged']);
  await settlementRound(world.deps, world.chain('ethereum'), 'settle');
  await world.mineFinal('ethereum', ['Settled', order]);
  const back = await world.session(sessionId);
  assert.deepEqual(
    [back.status, back.initiateTx, back.payer, back.receiptId === ''],
    ['completed', hash, order.order.payer, false],
  );
});

test('a payment that is gone does not end its session while its merchant may be paid from a vault', async () => {
  const sessionId = await world.openSession('base::usdc');
  const order = await world.signOrder(sessionId, 'ethereum::usdc');
  await world.mineFinal('ethereum', ['Paid', order], ['Settled', order]);
  await world.dropFinal('ethereum', 1n);
  await world.database.db.query(putFinalTime, {
    chainId: order.chainId,
    finalTime: new Date(Number(order.order.payBy + 1n) * 1_000),
  });
  const ended = await world.database.db.transaction((transaction) =>
    endLostPayments(transaction, world.moves, 10),
  );
  assert.deepEqual([ended, await statusOf(sessionId)], [0, ['settlement_pending', 'payment_reorged']]);
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
