import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import {
  type OrderStep,
  openRefundWorld,
  paidStep,
  partOfPrice,
  refundedPart,
  settledStep,
  wholePrice,
} from '../../test/harness/refund-fixture.ts';
import { reportSigning, startSigning } from './signing.ts';

const { world, deps, show, orderAfter, ask, cancel, statusesOf } = await openRefundWorld();
after(() => world.close());

const seenPart: OrderStep = ['SettlementRefunded', 'not final', { value: '400000', refundedTotal: '400000' }];
const seenOther: OrderStep = ['SettlementRefunded', 'not final', { value: '5', refundedTotal: '5' }];

/** The events of the payment, the events after the refund was requested, and what cancelling it answers. */
const cancellings: Readonly<
  Record<
    string,
    { readonly after: readonly OrderStep[]; readonly next: readonly OrderStep[]; readonly says: string }
  >
> = {
  'a refund that waits for a wallet': { after: [paidStep, settledStep], next: [], says: 'cancelled' },
  'a refund that the platform sends': { after: [paidStep], next: [], says: 'refund_not_cancellable' },
  'a refund that is completed': {
    ...{ after: [paidStep, settledStep], next: [refundedPart], says: 'refund_not_cancellable' },
  },
  'a refund that failed': {
    ...{ after: [paidStep], next: [settledStep], says: 'refund_not_cancellable' },
  },
  'a refund whose return is in a block that is not final': {
    ...{ after: [paidStep, settledStep], next: [seenPart], says: 'refund_not_cancellable' },
  },
  'a refund while another amount is on its way': {
    ...{ after: [paidStep, settledStep], next: [seenOther], says: 'cancelled' },
  },
};

for (const [name, { after: steps, next, says }] of Object.entries(cancellings)) {
  test(`cancelling ${name}: ${says}`, async () => {
    const order = await orderAfter(steps);
    const { refundId } = await ask(order, steps.includes(settledStep) ? partOfPrice : undefined);
    for (const step of next) await show(order, step);
    const before = await statusesOf(order, [refundId]);
    const events = await world.eventsOf(refundId);
    assert.equal(await cancel(order, refundId), says);
    const isCancelled = says === 'cancelled';
    assert.deepEqual(await statusesOf(order, [refundId]), isCancelled ? ['cancelled'] : before);
    const told = isCancelled ? ['refund.cancelled'] : [];
    assert.deepEqual(await world.eventsOf(refundId), [...events, ...told]);
  });
}

test('a refund is cancelled by its own merchant, and cancelling it again changes nothing', async () => {
  const order = await orderAfter([paidStep, settledStep]);
  const { refundId } = await ask(order, partOfPrice);
  assert.equal(await cancel(order, refundId, 'mer_other'), 'refund_not_found');
  assert.equal(await cancel(order, 'rfd_none'), 'refund_not_found');
  assert.deepEqual(await statusesOf(order, [refundId]), ['requires_signature']);
  // In the same moment, which PostgreSQL orders by the lock of the row.
  const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(order, refundId)));
  assert.deepEqual(answers, Array(8).fill('cancelled'));
  assert.deepEqual(await world.eventsOf(refundId), ['refund.created', 'refund.cancelled']);
});

test('a refund that a wallet was asked to sign is not cancelled, and a cancelled one is not signed', async () => {
  const order = await orderAfter([paidStep, settledStep]);
  const { merchantId } = await world.session(order.sessionId);
  const [{ refundId }, other] = [await ask(order, partOfPrice), await ask(order, wholePrice - partOfPrice)];
  const signer = {
    merchantId,
    refundId,
    userId: 'usr_ada',
    signingId: '00000000-0000-4000-8000-000000000000',
  };
  const start = (of: { refundId: string; insteadOf?: string }) =>
    world.database.db.transaction((transaction) =>
      startSigning(transaction, deps(), {
        ...{ ...signer, account: `0x${'a'.repeat(40)}`, insteadOf: '' },
        ...of,
      }),
    );
  await start({ refundId });
  assert.equal(await cancel(order, refundId), 'refund_being_signed');
  const txHash = `0x${'b'.repeat(64)}`;
  await world.database.db.transaction((transaction) => reportSigning(transaction, { ...signer, txHash }));
  assert.equal(await cancel(order, refundId), 'refund_being_signed');
  // Another refund of the payment is not the one that is signed.
  assert.equal(await cancel(order, other.refundId), 'cancelled');
  await assert.rejects(start({ refundId: other.refundId, insteadOf: signer.signingId }), {
    slug: 'refund_not_possible',
  });
  assert.deepEqual(await statusesOf(order, [refundId, other.refundId]), ['requires_signature', 'cancelled']);
});

test('of a cancelling and a signing in the same moment one wins, and the other is refused', async () => {
  for (let round = 0; round < 3; round += 1) {
    const order = await orderAfter([paidStep, settledStep]);
    const { merchantId } = await world.session(order.sessionId);
    const { refundId } = await ask(order, partOfPrice);
    const signingId = '00000000-0000-4000-8000-000000000000';
    const request = { merchantId, refundId, userId: 'usr_ada', signingId, account: '0xa', insteadOf: '' };
    const signed = world.database.db
      .transaction((transaction) => startSigning(transaction, deps(), request))
      .then(
        () => 'started',
        (error: unknown) => (error instanceof Refusal ? error.slug : String(error)),
      );
    const answers = await Promise.all([signed, cancel(order, refundId)]);
    assert.ok(
      ['started refund_being_signed', 'refund_not_possible cancelled'].includes(answers.join(' ')),
      answers.join(' '),
    );
  }
});

/** What a return makes of refunds of which some were cancelled before. */
const lateReturns: Readonly<
  Record<
    string,
    {
      readonly asked: readonly number[];
      /** Places of the cancelled ones in `asked`. */
      readonly cancelled: readonly number[];
      readonly returns: readonly (readonly [value: number, refundedTotal: number])[];
      readonly become: readonly string[];
    }
  >
> = {
  'a cancelled refund whose transaction is mined all the same': {
    ...{ asked: [partOfPrice], cancelled: [0], returns: [[partOfPrice, partOfPrice]], become: ['completed'] },
  },
  'a return beside a cancelled and a waiting refund of the amount pays the waiting one': {
    ...{
      asked: [partOfPrice, partOfPrice],
      cancelled: [0],
      returns: [[partOfPrice, partOfPrice]],
      become: ['cancelled', 'completed'],
    },
  },
  'two returns pay the waiting and then the cancelled refund of the amount': {
    asked: [partOfPrice, partOfPrice],
    cancelled: [0],
    returns: [
      [partOfPrice, partOfPrice],
      [partOfPrice, partOfPrice + partOfPrice],
    ],
    become: ['completed', 'completed'],
  },
  'a return of another amount leaves a cancelled refund as it is': {
    ...{ asked: [partOfPrice], cancelled: [0], returns: [[5, 5]], become: ['cancelled'] },
  },
  'a late return of everything fails what waits': {
    ...{
      asked: [wholePrice, partOfPrice],
      cancelled: [0],
      returns: [[wholePrice, wholePrice]],
      become: ['completed', 'failed'],
    },
  },
  'a late return fails a waiting refund of more than it leaves': {
    asked: [600_000, 500_000],
    ...{ cancelled: [0], returns: [[600_000, 600_000]], become: ['completed', 'failed'] },
  },
  // The gateway returns no more than is left, so an event that says so tells of money that is counted already.
  'a late return of more than is left completes nothing': {
    asked: [wholePrice, partOfPrice],
    cancelled: [0],
    returns: [
      [partOfPrice, partOfPrice],
      [wholePrice, wholePrice],
    ],
    become: ['cancelled', 'completed'],
  },
  'an event that is read again pays one cancelled refund': {
    asked: [partOfPrice, partOfPrice],
    cancelled: [0, 1],
    returns: [
      [partOfPrice, partOfPrice],
      [partOfPrice, partOfPrice],
    ],
    become: ['completed', 'cancelled'],
  },
};

for (const [name, { asked, cancelled, returns, become }] of Object.entries(lateReturns)) {
  test(`${name}: ${become.join(', ')}`, async () => {
    const order = await orderAfter([paidStep, settledStep]);
    const refundIds: string[] = [];
    for (const [place, amount] of asked.entries()) {
      const { refundId } = await ask(order, amount);
      refundIds.push(refundId);
      if (cancelled.includes(place)) assert.equal(await cancel(order, refundId), 'cancelled');
    }
    for (const [value, refundedTotal] of returns)
      await show(order, [
        'SettlementRefunded',
        'final',
        { value: `${value}`, refundedTotal: `${refundedTotal}` },
      ]);
    assert.deepEqual(await statusesOf(order, refundIds), become);
    const back = returns.at(-1)?.[1] ?? 0;
    assert.equal((await world.session(order.sessionId)).refundedAmount, BigInt(back));
    // What is left is never below zero, and no refund asks for more than it.
    const left = wholePrice - back;
    assert.equal((await ask(order, left + 1)).said, 'refund_exceeds');
    if (left > 0) assert.equal((await ask(order, undefined)).said, `requires_signature ${left}`);
  });
}

test('of a cancelling and the final return in the same moment, the money counts once either way', async () => {
  for (let round = 0; round < 3; round += 1) {
    const order = await orderAfter([paidStep, settledStep]);
    const { refundId } = await ask(order, partOfPrice);
    const [answer] = await Promise.all([cancel(order, refundId), show(order, refundedPart)]);
    assert.ok(['cancelled', 'refund_not_cancellable'].includes(answer), answer);
    assert.deepEqual(await statusesOf(order, [refundId]), ['completed']);
    assert.equal((await world.session(order.sessionId)).refundedAmount, BigInt(partOfPrice));
    const types = await world.eventsOf(refundId);
    assert.equal(types.filter((type) => type === 'refund.completed').length, 1);
  }
});
