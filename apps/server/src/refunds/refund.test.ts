import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statement } from '@florin/pg';
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

const setTotalValue = statement({
  name: 'refund_test_total_value',
  parameters: { orderId: 'text', totalValue: 'int8' },
  text: 'update orders set total_value = :totalValue where order_id = :orderId',
});

const setSession = statement({
  name: 'refund_test_session',
  parameters: { orderId: 'text', sessionId: 'text' },
  text: 'update orders set session_id = :sessionId where order_id = :orderId',
});

const { world, deps, show, orderAfter, ask } = await openRefundWorld();
after(() => world.close());

/** The events of the payment, and the answer to each requested amount. */
const requests: Readonly<
  Record<
    string,
    { readonly after: readonly OrderStep[]; readonly says: readonly [number | undefined, string][] }
  >
> = {
  'nothing is paid': {
    after: [],
    says: [
      [undefined, 'refund_not_possible'],
      [partOfPrice, 'refund_not_possible'],
    ],
  },
  'the payment is not final': {
    after: [['Paid', 'not final']],
    says: [
      [undefined, 'refund_not_possible'],
      [wholePrice, 'refund_not_possible'],
    ],
  },
  'the payment waits for its settlement': {
    after: [paidStep],
    says: [
      [wholePrice + 1, 'refund_exceeds'],
      [partOfPrice, 'refund_not_possible'],
      [undefined, `pending ${wholePrice}`],
      [undefined, 'refund_not_possible'],
    ],
  },
  'the payment waits for its settlement, and all of it is named': {
    after: [paidStep],
    says: [[wholePrice, `pending ${wholePrice}`]],
  },
  'its settlement is in a block that is not final': {
    after: [paidStep, ['Settled', 'not final']],
    says: [[undefined, `requires_signature ${wholePrice}`]],
  },
  'the payment is settled': {
    after: [paidStep, settledStep],
    says: [
      [wholePrice + 1, 'refund_exceeds'],
      [partOfPrice, `requires_signature ${partOfPrice}`],
      [wholePrice - partOfPrice + 1, 'refund_exceeds'],
      [undefined, `requires_signature ${wholePrice - partOfPrice}`],
      [undefined, 'refund_exceeds'],
      [1, 'refund_exceeds'],
    ],
  },
  'part of a settled payment is back': {
    after: [
      paidStep,
      settledStep,
      ['SettlementRefunded', 'final', { value: '400000', refundedTotal: '400000' }],
    ],
    says: [
      [wholePrice - partOfPrice + 1, 'refund_exceeds'],
      [undefined, `requires_signature ${wholePrice - partOfPrice}`],
    ],
  },
  'the payment is back with its payer by a refund': {
    after: [paidStep, ['Refunded', 'final']],
    says: [
      [1, 'refund_exceeds'],
      [undefined, 'refund_not_possible'],
    ],
  },
  'the payer has reclaimed the payment': {
    after: [paidStep, ['Reclaimed', 'final']],
    says: [
      [1, 'refund_exceeds'],
      [undefined, 'refund_not_possible'],
    ],
  },
  'the payer’s reclaim is in a block that is not final': {
    after: [paidStep, ['Reclaimed', 'not final']],
    says: [[undefined, 'refund_not_possible']],
  },
};

for (const [state, { after: steps, says }] of Object.entries(requests)) {
  const texts = says.map(([amount, said]) => `${amount ?? 'everything'} is ${said}`);
  test(`${state}: ${texts.join(', ')}`, async () => {
    const order = await orderAfter(steps);
    for (const [amount, said] of says) {
      const answer = await ask(order, amount);
      assert.equal(answer.said, said, `${amount}`);
    }
  });
}

test('another merchant has no payment to give back', async () => {
  const order = await orderAfter([paidStep]);
  assert.equal((await ask(order, undefined, 'mer_other')).said, 'session_not_found');
});

/** Events, the requested refunds, the next event, and what it makes of the refunds. */
const outcomes: Readonly<
  Record<
    string,
    {
      readonly after: readonly OrderStep[];
      readonly asked: readonly (number | undefined)[];
      readonly next: OrderStep;
      readonly become: readonly string[];
      readonly refunded: number;
    }
  >
> = {
  'the platform’s refund completes it': {
    after: [paidStep],
    ...{ asked: [undefined], next: ['Refunded', 'final'], become: ['completed'], refunded: wholePrice },
  },
  'a refund that is not final changes nothing': {
    after: [paidStep],
    ...{ asked: [undefined], next: ['Refunded', 'not final'], become: ['pending'], refunded: 0 },
  },
  'the payer’s own reclaim completes it': {
    after: [paidStep],
    ...{ asked: [undefined], next: ['Reclaimed', 'final'], become: ['completed'], refunded: wholePrice },
  },
  'a settlement that came first ends it': {
    after: [paidStep],
    ...{ asked: [undefined], next: settledStep, become: ['failed'], refunded: 0 },
  },
  'the merchant’s transaction completes the refund of its amount alone': {
    after: [paidStep, settledStep],
    ...{
      asked: [partOfPrice, wholePrice - partOfPrice],
      next: refundedPart,
      become: ['completed', 'requires_signature'],
    },
    refunded: partOfPrice,
  },
  'of two refunds of one amount the older one is completed': {
    after: [paidStep, settledStep],
    ...{ asked: [partOfPrice, partOfPrice], next: refundedPart, become: ['completed', 'requires_signature'] },
    refunded: partOfPrice,
  },
  'a refund of more than is left fails': {
    after: [paidStep, settledStep],
    asked: [partOfPrice, wholePrice - partOfPrice],
    next: ['SettlementRefunded', 'final', { value: '500000', refundedTotal: '500000' }],
    ...{ become: ['requires_signature', 'failed'], refunded: 500_000 },
  },
  'an amount without a request shows on the session, and completes nothing': {
    after: [paidStep, settledStep],
    asked: [partOfPrice],
    next: ['SettlementRefunded', 'final', { value: '5', refundedTotal: '5' }],
    ...{ become: ['requires_signature'], refunded: 5 },
  },
};

for (const [name, { after: steps, asked, next, become, refunded }] of Object.entries(outcomes)) {
  test(`${name}: ${become.join(', ')}`, async () => {
    const order = await orderAfter(steps);
    const { merchantId } = await world.session(order.sessionId);
    const refundIds: string[] = [];
    for (const amount of asked) refundIds.push((await ask(order, amount)).refundId);
    await show(order, next);
    const statuses: string[] = [];
    for (const refundId of refundIds)
      statuses.push((await findRefund(world.database.db, deps(), { merchantId, refundId })).status);
    assert.deepEqual(statuses, become);
    assert.equal((await world.session(order.sessionId)).refundedAmount, BigInt(refunded));
  });
}

test('a payment that a reorg below finality took back is not refunded before it is final again', async () => {
  for (const steps of [[paidStep], [paidStep, settledStep]]) {
    const order = await orderAfter(steps);
    await world.dropFinal('ethereum', BigInt(2 * steps.length));
    assert.equal((await ask(order, undefined)).said, 'refund_not_possible');
    await show(order, ['Paid', 'not final']);
    assert.equal((await ask(order, undefined)).said, 'refund_not_possible');
    await world.mineFinal('ethereum');
    assert.equal((await ask(order, undefined)).said, `pending ${wholePrice}`);
  }
});

test('a row that was changed makes no wallet return more than asked, and nothing of another session’s payment', async () => {
  const [order, other] = [
    await orderAfter([paidStep, settledStep]),
    await orderAfter([paidStep, settledStep]),
  ];
  const { orderId, sessionId } = order;
  const { merchantId } = await world.session(sessionId);
  const { refundId } = await ask(order, partOfPrice);
  const { db } = world.database;
  const toSign = async () => {
    const { txRequest, requiredBalance } = await findRefund(db, deps(), { merchantId, refundId });
    return [txRequest === undefined, requiredBalance?.amountInToken];
  };
  const sound = [false, `${partOfPrice}`];
  assert.deepEqual(await toSign(), sound);
  for (const [spoil, mend] of [
    [
      () => db.query(setTotalValue, { orderId, totalValue: BigInt(2 * partOfPrice) }),
      () => db.query(setTotalValue, { orderId, totalValue: BigInt(wholePrice) }),
    ],
    [
      () => db.query(setSession, { orderId, sessionId: other.sessionId }),
      () => db.query(setSession, { orderId, sessionId }),
    ],
  ] as const) {
    await spoil();
    assert.deepEqual(await toSign(), [true, undefined]);
    assert.equal((await ask(order, 1)).said, 'refund_not_possible');
    await mend();
    assert.deepEqual(await toSign(), sound);
  }
});

test('a refund event that comes back after a reorg below finality completes no second refund of its amount', async () => {
  const order = await orderAfter([paidStep, settledStep]);
  const { merchantId } = await world.session(order.sessionId);
  const refundIds = [(await ask(order, partOfPrice)).refundId, (await ask(order, partOfPrice)).refundId];
  const statuses = async () => {
    const refunds = refundIds.map((refundId) =>
      findRefund(world.database.db, deps(), { merchantId, refundId }),
    );
    return (await Promise.all(refunds)).map(({ status }) => status);
  };
  await show(order, refundedPart);
  await world.dropFinal('ethereum', 2n);
  await show(order, refundedPart);
  assert.deepEqual(await statuses(), ['completed', 'requires_signature']);
  await show(order, ['SettlementRefunded', 'final', { value: '400000', refundedTotal: '800000' }]);
  assert.deepEqual(await statuses(), ['completed', 'completed']);
  // What no refund waited for is one of its own, once.
  const alone: OrderStep = ['SettlementRefunded', 'final', { value: '7', refundedTotal: '800007' }];
  const amounts = async () =>
    (await refundsOfSession(world.database.db, order.sessionId)).map(({ amount }) => amount);
  await show(order, alone);
  assert.deepEqual(await amounts(), [partOfPrice, partOfPrice, 7]);
  await world.dropFinal('ethereum', 2n);
  await show(order, alone);
  assert.deepEqual(await amounts(), [partOfPrice, partOfPrice, 7]);
});
