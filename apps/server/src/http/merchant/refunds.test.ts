import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { lockWaitingLegs, markSent } from '#settlement/leg.sql.ts';
import { findLeg } from '#settlement/leg.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { addOrder, addPaidSession, addSession, happen } from '../../../test/harness/payment-fixture.ts';

const insertSettlement = statement({
  name: 'refunds_test_settlement',
  parameters: { chainId: 'int8', callData: 'text', status: 'text' },
  text: `insert into sent_transactions (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at,
     updated_at)
   select :chainId, '0xwallet', count(*), 'settle', '0xgateway', :callData, 1, :status, now(), now() from sent_transactions`,
});

const insertAddition = statement({
  name: 'refunds_test_addition',
  parameters: { orderId: 'text', status: 'text' },
  text: `with sent as (
     insert into sent_transactions (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at,
       updated_at)
     select 1, '0xadding', count(*), 'add', '0xtoken', '0x', 1, 'succeeded', now(), now() from sent_transactions
     returning transaction_id
   )
   insert into deposit_moves (order_id, move, token, chain_id, status, transaction_id, created_at, updated_at, amount)
   select :orderId, 'add', '0xtoken', 1, :status, transaction_id, now(), now(), 5 from sent`,
});

const setAdditionStatus = statement({
  name: 'refunds_test_addition_status',
  parameters: { orderId: 'text', status: 'text' },
  text: 'update deposit_moves set status = :status where order_id = :orderId',
});

let world: MerchantWorld;
let key: string;
let accountId: string;
before(async () => {
  world = await MerchantWorld.open();
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
});
after(() => world.close());

const create = (body: object) => world.send('POST', '/refund/create', { key, body });
const read = async (refundId: string) => (await world.send('GET', `/refund/${refundId}`, { key })).data;
const session = async (sessionId: string) =>
  (await world.send('GET', `/session/${sessionId}`, { key })).data.session;
const legs = async (orderId: string) => {
  const { db } = world.database;
  return [(await findLeg(db, orderId, 'settle'))?.status, (await findLeg(db, orderId, 'refund'))?.status];
};
const typesOf = async (objectId: string) => (await world.eventsOf(objectId)).map(({ type }) => type);

/** Ten dollars and the fee of 0.2 %, which the payer pays. */
const paid = 10_020_000;

// proves W9.1, W9.3
test('an unsettled payment goes back in full, and its session stays paid and shows it', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  const created = await create({ sessionId, reason: 'Out of stock' });
  const { refundId } = created.data;
  const refund = {
    refundId,
    sessionId,
    orderId: order.orderId,
    exceptionId: '',
    amount: paid,
    status: 'pending',
    reason: 'Out of stock',
    txHash: '',
    cancelledAt: '',
    createAt: '2030-01-01 00:00:00',
    updateAt: '2030-01-01 00:00:00',
  };
  assert.match(refundId, /^rfd_[0-9A-Za-z]{22}$/);
  assert.deepEqual(created.data, refund);
  assert.deepEqual(await read(refundId), refund);
  assert.deepEqual(await legs(order.orderId), ['done', 'waiting']);
  assert.deepEqual(
    [(await session(sessionId)).status, (await session(sessionId)).refundedAmount],
    ['paid', 0],
  );

  const returned = await happen(world, order, 'Refunded');
  const completed = { ...refund, status: 'completed', txHash: returned.txHash };
  assert.deepEqual(await read(refundId), completed);
  assert.deepEqual(
    [(await session(sessionId)).status, (await session(sessionId)).refundedAmount],
    ['paid', paid],
  );
  assert.deepEqual(
    (await world.eventsOf(refundId)).map(({ type, sequence, data }) => ({ type, sequence, data })),
    [
      { type: 'refund.created', sequence: 1, data: { refund } },
      { type: 'refund.completed', sequence: 2, data: { refund: completed } },
    ],
  );
  assert.equal((await create({ sessionId })).code, 100702);
});

test('a refund is not completed before its transaction is final', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  const { refundId } = (await create({ sessionId, amount: paid })).data;
  await happen(world, order, 'Refunded', { isFinal: false });
  assert.equal((await read(refundId)).status, 'pending');
});

test('when a third party settles first, the refund fails and the session completes', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  const { refundId } = (await create({ sessionId })).data;
  await happen(world, order, 'Settled');
  const refund = await read(refundId);
  assert.deepEqual([refund.status, refund.txHash], ['failed', '']);
  assert.deepEqual(await typesOf(refundId), ['refund.created', 'refund.failed']);
  const shown = await session(sessionId);
  assert.deepEqual([shown.status, shown.refundedAmount], ['completed', 0]);
});

test('across chains a stranger’s settlement ends the refund, and the payout continues', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId, settlementToken: 'base::usdc' });
  const { refundId } = (await create({ sessionId })).data;
  await happen(world, order, 'Settled');
  assert.equal((await read(refundId)).status, 'failed');
  assert.equal((await findLeg(world.database.db, order.orderId, 'payout'))?.status, 'waiting');
});

test('a payer’s reclaim completes an open refund, and shows on a session without one', async () => {
  const asked = await addPaidSession(world, { key, accountId });
  const { refundId } = (await create({ sessionId: asked.sessionId })).data;
  const reclaim = await happen(world, asked.order, 'Reclaimed');
  const refund = await read(refundId);
  assert.deepEqual([refund.status, refund.txHash], ['completed', reclaim.txHash]);

  const unasked = await addPaidSession(world, { key, accountId });
  await happen(world, unasked.order, 'Reclaimed');
  const shown = await session(unasked.sessionId);
  assert.deepEqual([shown.status, shown.refundedAmount], ['paid', paid]);
});

test('20 concurrent refunds of one session are one refund', async () => {
  const { sessionId } = await addPaidSession(world, { key, accountId });
  const replies = await Promise.all(Array.from({ length: 20 }, () => create({ sessionId })));
  const codes = replies.map(({ code }) => code).sort((left, right) => left - right);
  assert.deepEqual(codes, [0, ...Array(19).fill(100702)]);
  const [won] = replies.filter(({ code }) => code === 0);
  assert.deepEqual(await typesOf(won?.data.refundId), ['refund.created']);
});

// proves W9.2
test('a settlement that is being recorded wins over a concurrent refund', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  const refund = await world.database.db.transaction(async (transaction) => {
    const locked = await transaction.query(lockWaitingLegs, { orderIds: [order.orderId], leg: 'settle' });
    assert.equal(locked.length, 1);
    // It waits for the lock that this transaction holds.
    const asked = create({ sessionId });
    await transaction.query(markSent, {
      orderIds: [order.orderId],
      leg: 'settle',
      transactionId: null,
      updatedAt: world.clock.now(),
    });
    return { asked };
  });
  const reply = await refund.asked;
  assert.equal(reply.code, 100702);
  assert.match(reply.message, /its settlement is on its way/);
  assert.deepEqual(await legs(order.orderId), ['sent', undefined]);
});

// proves W9.2
test('a settlement transaction that may still be mined counts even when its leg is queued again', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  const { chainId, order: terms } = order;
  const send = (status: string) =>
    world.database.db.query(insertSettlement, {
      chainId,
      callData: `0x1234${terms.metaData.slice(2)}5678`,
      status,
    });
  await send('pending');
  const reply = await create({ sessionId });
  assert.deepEqual([reply.code, /its settlement is on its way/.test(reply.message)], [100702, true]);

  const other = await addPaidSession(world, { key, accountId });
  await send('failed');
  assert.equal((await create({ sessionId: other.sessionId })).code, 0);
});

test('a requested refund wins over a settlement that is planned but not recorded', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  assert.equal((await create({ sessionId })).code, 0);
  const locked = await world.database.db.query(lockWaitingLegs, { orderIds: [order.orderId], leg: 'settle' });
  assert.deepEqual(locked, []);
});

// proves W9.2
test('once a settlement is in a block, final or not, only the merchant’s wallet can give the payment back', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  await happen(world, order, 'Settled', { isFinal: false });
  const { data } = await create({ sessionId });
  assert.equal(data.status, 'requires_signature');
  assert.deepEqual(await legs(order.orderId), ['waiting', undefined]);
  // The settlement is reorged, and the payer reclaims the money instead.
  await happen(world, order, 'Reclaimed');
  assert.equal((await read(data.refundId)).status, 'failed');
});

// proves W9.4
test('before the settlement only the whole payment goes back, and never more', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  const more = await create({ sessionId, amount: paid + 1 });
  assert.deepEqual(
    [more.code, more.message],
    [100701, `Refund exceeds the refundable amount: ${paid} Micro-USD were paid`],
  );
  const less = await create({ sessionId, amount: paid - 1 });
  assert.equal(less.code, 100702);
  assert.match(less.message, /before the settlement only all of it can go back/);
  assert.deepEqual(await legs(order.orderId), ['waiting', undefined]);
});

test('unpaid sessions and those of other merchants cannot be refunded', async () => {
  const sessionId = await addSession(world, { key, accountId });
  assert.equal((await create({ sessionId })).code, 100702);
  await addOrder(world, sessionId);
  assert.equal((await create({ sessionId })).code, 100702);
  assert.equal((await create({ sessionId: 'sess_none' })).code, 100201);
  const { sessionId: foreign } = await addPaidSession(world, { key, accountId });
  const otherKey = await world.addKey(await world.addMerchant());
  const reply = await world.send('POST', '/refund/create', { key: otherKey, body: { sessionId: foreign } });
  assert.equal(reply.code, 100201);
});

const malformed: [string, object][] = [
  ['amount', { amount: 0 }],
  ['amount', { amount: '1' }],
  ['reason', { reason: 'x'.repeat(501) }],
  ['status', { status: 'completed' }],
];
for (const [param, fields] of malformed) {
  test(`${JSON.stringify(fields).slice(0, 40)} is refused at ${param}`, async () => {
    const reply = await create({ sessionId: 'sess_none', ...fields });
    assert.deepEqual([reply.code, JSON.parse(reply.text).error.param], [400101, param]);
  });
}

// proves W9.5
test('refunds are read one by one, and listed page by page, newest first, to their own merchant alone', async () => {
  const merchantId = await world.addMerchant();
  const ownKey = await world.addKey(merchantId);
  const ownAccount = await world.addAccount(merchantId);
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    const { sessionId } = await addPaidSession(world, { key: ownKey, accountId: ownAccount });
    const reply = await world.send('POST', '/refund/create', { key: ownKey, body: { sessionId } });
    ids.unshift(reply.data.refundId);
  }
  const { data } = await world.send('GET', '/refund/list/1/2', { key: ownKey });
  assert.deepEqual([data.total, data.page, data.size, data.hasMore], [3, 1, 2, true]);
  assert.deepEqual(
    data.refunds.map(({ refundId }: { refundId: string }) => refundId),
    ids.slice(0, 2),
  );
  const { data: last } = await world.send('GET', '/refund/list/2/2', { key: ownKey });
  assert.deepEqual([last.total, last.hasMore, last.refunds.length], [3, false, 1]);
  assert.equal(last.refunds[0].refundId, ids[2]);
  const ofSession = `/refund/list/1/2?sessionId=${last.refunds[0].sessionId}`;
  const { data: one } = await world.send('GET', ofSession, { key: ownKey });
  assert.deepEqual([one.total, one.hasMore, one.refunds], [1, false, last.refunds]);
  assert.deepEqual((await world.send('GET', ofSession, { key })).data.refunds, []);
  const behind = `${ofSession}&after=${ids[2]}`;
  assert.deepEqual((await world.send('GET', behind, { key: ownKey })).data.refunds, []);
  for (const refundId of ids) {
    const one = await world.send('GET', `/refund/${refundId}`, { key: ownKey });
    assert.deepEqual([one.data.refundId, one.data.status], [refundId, 'pending']);
  }
  assert.equal((await world.send('GET', `/refund/${ids[0]}`, { key })).code, 100703);
  assert.equal((await world.send('GET', '/refund/rfd_none', { key })).code, 100703);
});

test('before its settlement a payment that the operator added to is not refunded: the payer would get the addition', async () => {
  const added = await addPaidSession(world, { key, accountId });
  await world.database.db.query(insertAddition, { orderId: added.order.orderId, status: 'succeeded' });
  assert.equal((await create({ sessionId: added.sessionId })).code, 100702);
  const notAdded = await addPaidSession(world, { key, accountId });
  await world.database.db.query(insertAddition, { orderId: notAdded.order.orderId, status: 'failed' });
  assert.equal((await create({ sessionId: notAdded.sessionId })).code, 0);
});

test('after its settlement a refund returns what the payer paid, and not what the operator added', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  await world.database.db.query(insertAddition, { orderId: order.orderId, status: 'sent' });
  await happen(world, order, 'Settled');
  const { data } = await world.send('GET', `/session/${sessionId}`, { key });
  const { totalValue, addedValue, paidAmountInToken } = data.transaction;
  assert.deepEqual([totalValue, addedValue, paidAmountInToken], [paid, 5, `${paid - 5}`]);
  assert.equal((await create({ sessionId, amount: paid - 4 })).code, 100701);
  const part = await create({ sessionId, amount: 1_000_000 });
  const rest = await create({ sessionId });
  assert.deepEqual(
    [part.data.amount, rest.data.amount, rest.data.requiredBalance.amountInToken],
    [1_000_000, paid - 1_000_005, `${paid - 1_000_005}`],
  );
  assert.equal((await create({ sessionId, amount: 1 })).code, 100701);
  // The merchant's wallet returns more by itself than the payer paid: nothing is left, and what waits ends.
  const all = { value: String(paid - 2), refundedTotal: String(paid - 2) };
  await happen(world, order, 'SettlementRefunded', { arguments: all });
  assert.deepEqual(
    [(await read(part.data.refundId)).status, (await read(rest.data.refundId)).status],
    ['failed', 'failed'],
  );
  assert.equal((await create({ sessionId })).code, 100702);
});

test('an addition that is not followed any more keeps nothing back from the payer', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  const { db } = world.database;
  const { orderId } = order;
  await db.query(insertAddition, { orderId, status: 'sent' });
  await happen(world, order, 'Settled');
  const addedValue = async () =>
    (await world.send('GET', `/session/${sessionId}`, { key })).data.transaction.addedValue;
  assert.equal(await addedValue(), 5);
  await db.query(setAdditionStatus, { orderId, status: 'unfollowed' });
  assert.equal(await addedValue(), 0);
  assert.equal((await create({ sessionId })).data.amount, paid);
  // Its key is back, and its transaction succeeded after all.
  await db.query(setAdditionStatus, { orderId, status: 'succeeded' });
  assert.equal(await addedValue(), 5);
});

test('a session with another deposit that was added to is not refunded either: its fee covers that addition', async () => {
  const sessionId = await addSession(world, { key, accountId });
  const [one, other] = [
    await addOrder(world, sessionId),
    await addOrder(world, sessionId, `0x${'e5'.repeat(20)}`),
  ];
  await happen(world, one, 'Paid');
  await world.database.db.query(insertAddition, { orderId: other.orderId, status: 'succeeded' });
  assert.equal((await create({ sessionId })).code, 100702);
});

const dropPayment = statement({
  name: 'refunds_test_drop_payment',
  parameters: { orderId: 'text' },
  text: `insert into dropped_events (chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name, order_id,
     arguments, dropped_at) values (1, 1, '0xab', 0, '0xcd', now(), '0x90', 'Paid', :orderId, '{}', now())`,
});

test('a payment that a reorg took back is not refunded', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  await world.database.db.query(dropPayment, { orderId: order.orderId });
  const { code, message } = await create({ sessionId });
  assert.equal(code, 100702);
  assert.match(message, /the chain took back the block with the payment/);
});

const haltChain = statement({
  name: 'refunds_test_halt_chain',
  parameters: { chainId: 'int8', haltedReason: 'text' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, halted_reason,
     updated_at) values (:chainId, 9, '0x', now(), 3, '0x', now(), :haltedReason, now())
   on conflict (chain_id) do update set halted_reason = :haltedReason`,
});

test('while the chain of a payment is halted it is not refunded, and the same request succeeds afterwards', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  const { chainId } = order;
  const { db } = world.database;
  await db.query(haltChain, { chainId, haltedReason: 'reorg below the final block 9' });
  const { code, text } = await create({ sessionId });
  const { slug, retryable } = JSON.parse(text).error;
  assert.deepEqual([code, slug, retryable], [900401, 'chain_unavailable', true]);
  await db.query(haltChain, { chainId, haltedReason: '' });
  assert.equal((await create({ sessionId })).code, 0);
});
