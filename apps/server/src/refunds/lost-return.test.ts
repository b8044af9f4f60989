import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statement } from '@florin/pg';
import type { StoredOrder } from '#orders/stored-order.ts';
import {
  type OrderStep,
  openRefundWorld,
  paidStep,
  partOfPrice,
  refundedPart,
  settledStep,
  wholePrice,
} from '../../test/harness/refund-fixture.ts';
import { findRefund, refundsOfSession } from './refund.ts';
import { findSigning, startSigning } from './signing.ts';

const openRefundLegs = statement({
  name: 'lost_return_test_legs',
  parameters: { orderId: 'text' },
  columns: { status: 'text' },
  text: `select status from settlements where order_id = :orderId and leg = 'refund'`,
});

const resumed = statement({
  name: 'lost_return_test_resumed',
  parameters: { chainId: 'int8' },
  columns: {},
  text: `update chain_cursors set halted_reason = '' where chain_id = :chainId`,
});

const { world, deps, show, orderAfter, ask, cancel, statusesOf } = await openRefundWorld();
after(() => world.close());
const { db } = world.database;

/** Every step takes a block, and a final one two. */
const drop = (steps: number) => world.dropFinal('ethereum', BigInt(2 * steps));

const partAgain: OrderStep = ['SettlementRefunded', 'final', { value: '400000', refundedTotal: '800000' }];

async function refundOf({ sessionId }: StoredOrder, refundId: string) {
  const { merchantId } = await world.session(sessionId);
  return findRefund(db, deps(), { merchantId, refundId });
}

async function refundedOf({ sessionId }: StoredOrder): Promise<bigint> {
  return (await world.session(sessionId)).refundedAmount;
}

test('a refund by the merchant’s wallet that a reorg below finality took back waits for a wallet again, and is completed once', async () => {
  const order = await orderAfter([paidStep, settledStep]);
  const { refundId } = await ask(order, partOfPrice);
  await show(order, refundedPart);
  const { txHash } = await refundOf(order, refundId);
  await drop(1);
  const lost = await refundOf(order, refundId);
  assert.deepEqual([lost.status, lost.txHash, await refundedOf(order)], ['requires_signature', txHash, 0n]);
  assert.equal(lost.txRequest === undefined, false, 'it can be signed');
  assert.equal((await ask(order, wholePrice)).said, 'refund_exceeds', 'it counts as one that waits');
  await show(order, refundedPart);
  const back = await refundOf(order, refundId);
  assert.deepEqual([back.status, await refundedOf(order)], ['completed', BigInt(partOfPrice)]);
  assert.deepEqual(await world.eventsOf(refundId), [
    ...['refund.created', 'refund.completed', 'refund.reopened', 'refund.completed'],
  ]);
});

test('a refund whose payment was taken back as well is completed by its return, not by that of the payment', async () => {
  const order = await orderAfter([paidStep, settledStep]);
  const { refundId } = await ask(order, undefined);
  const all: OrderStep = ['SettlementRefunded', 'final', { value: '1000000', refundedTotal: '1000000' }];
  await show(order, all);
  await drop(3);
  const state = async () => [
    (await world.session(order.sessionId)).status,
    (await statusesOf(order, [refundId]))[0],
    await refundedOf(order),
  ];
  assert.deepEqual(await state(), ['settlement_pending', 'requires_signature', 0n]);
  await show(order, paidStep);
  await show(order, settledStep);
  assert.deepEqual(await state(), ['completed', 'requires_signature', 0n]);
  await show(order, all);
  assert.deepEqual(await state(), ['completed', 'completed', BigInt(wholePrice)]);
});

test('when a second signature and the lost transaction both return a part, both count', async () => {
  const order = await orderAfter([paidStep, settledStep]);
  const { refundId } = await ask(order, partOfPrice);
  await show(order, refundedPart);
  await drop(1);
  await show(order, refundedPart);
  await show(order, partAgain);
  assert.equal(await refundedOf(order), BigInt(2 * partOfPrice));
  const refunds = await refundsOfSession(db, order.sessionId);
  assert.deepEqual(
    refunds.map(({ refundId: id, amount, status }) => [id === refundId, amount, status]),
    [
      [true, partOfPrice, 'completed'],
      [false, partOfPrice, 'completed'],
    ],
  );
});

test('of two returned parts the one is taken back that the chain took back', async () => {
  const order = await orderAfter([paidStep, settledStep]);
  const refundIds = [(await ask(order, partOfPrice)).refundId, (await ask(order, partOfPrice)).refundId];
  await show(order, refundedPart);
  await show(order, partAgain);
  await drop(1);
  assert.deepEqual(await statusesOf(order, refundIds), ['completed', 'requires_signature']);
  assert.equal(await refundedOf(order), BigInt(partOfPrice));
  await show(order, partAgain);
  assert.deepEqual(await statusesOf(order, refundIds), ['completed', 'completed']);
});

test('the lost transaction counts as a signing that is open: another wallet is asked only by who names it', async () => {
  const order = await orderAfter([paidStep, settledStep]);
  const { merchantId } = await world.session(order.sessionId);
  const { refundId } = await ask(order, partOfPrice);
  await show(order, refundedPart);
  const { txHash } = await refundOf(order, refundId);
  await drop(1);
  const open = await findSigning(db, { merchantId, refundId, userId: 'usr_one' });
  assert.deepEqual([open?.txHash, open?.isMine], [txHash, false]);
  const start = (insteadOf: string) =>
    db.transaction((transaction) =>
      startSigning(transaction, deps(), {
        ...{ merchantId, refundId, insteadOf, userId: 'usr_one' },
        ...{ signingId: '11111111-1111-4111-8111-111111111111', account: `0x${'a'.repeat(40)}` },
      }),
    );
  await assert.rejects(start(''), { slug: 'refund_being_signed' });
  assert.equal(await cancel(order, refundId), 'refund_being_signed');
  await start(open?.signingId ?? '');
  await show(order, refundedPart);
  assert.equal(await findSigning(db, { merchantId, refundId, userId: 'usr_one' }), undefined);
});

test('a refund of a payment that is gone, or whose chain is halted, is signed by no wallet', async () => {
  const order = await orderAfter([paidStep, settledStep]);
  const { merchantId } = await world.session(order.sessionId);
  const { refundId } = await ask(order, partOfPrice);
  const start = () =>
    db.transaction((transaction) =>
      startSigning(transaction, deps(), {
        ...{ merchantId, refundId, insteadOf: '', userId: 'usr_one' },
        ...{ signingId: '22222222-2222-4222-8222-222222222222', account: `0x${'a'.repeat(40)}` },
      }),
    );
  await drop(2);
  await assert.rejects(start(), { slug: 'refund_not_possible' });
  await show(order, paidStep);
  await show(order, settledStep);
  await start();
  await world.halt('ethereum');
  await assert.rejects(start(), { slug: 'chain_unavailable' });
  await db.query(resumed, { chainId: order.chainId });
});

test('a cancelled refund whose return was taken back is cancelled again, at its first time', async () => {
  const order = await orderAfter([paidStep, settledStep]);
  const { refundId } = await ask(order, partOfPrice);
  await cancel(order, refundId);
  const { cancelledAt } = await refundOf(order, refundId);
  world.clock.time += 60_000;
  await show(order, refundedPart);
  await drop(1);
  const lost = await refundOf(order, refundId);
  assert.deepEqual([lost.status, lost.cancelledAt, await refundedOf(order)], ['cancelled', cancelledAt, 0n]);
  await show(order, refundedPart);
  assert.deepEqual(await statusesOf(order, [refundId]), ['completed']);
});

for (const name of ['Refunded', 'Reclaimed'] as const) {
  test(`a payment whose ${name} a reorg below finality took back is sent back again`, async () => {
    const order = await orderAfter([paidStep]);
    const { refundId } = await ask(order, undefined);
    await show(order, [name, 'final']);
    const legs = async () =>
      (await db.query(openRefundLegs, { orderId: order.orderId })).map(({ status }) => status);
    assert.deepEqual(
      [await statusesOf(order, [refundId]), await refundedOf(order), await legs()],
      [['completed'], BigInt(wholePrice), ['done']],
    );
    await drop(1);
    assert.deepEqual(
      [await statusesOf(order, [refundId]), await refundedOf(order), await legs()],
      [['pending'], 0n, ['waiting']],
    );
    assert.equal((await ask(order, undefined)).said, 'refund_not_possible');
    await show(order, ['Refunded', 'final']);
    assert.deepEqual(
      [await statusesOf(order, [refundId]), await refundedOf(order), await legs()],
      [['completed'], BigInt(wholePrice), ['done']],
    );
  });
}

test('what a payer took back without a refund, and a reorg below finality undid, the platform sends back', async () => {
  const order = await orderAfter([paidStep, ['Reclaimed', 'final']]);
  await drop(1);
  assert.equal(await refundedOf(order), 0n);
  assert.deepEqual(await db.query(openRefundLegs, { orderId: order.orderId }), [{ status: 'waiting' }]);
  await show(order, ['Refunded', 'final']);
  assert.equal(await refundedOf(order), BigInt(wholePrice));
});
