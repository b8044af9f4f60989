import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import type { ChainEventName } from '#contracts/event.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { cancelRefund } from './cancellation.ts';
import { createRefund, findRefund, refundsOfSession } from './refund.ts';
import { reportSigning, startSigning } from './signing.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

const token = 'ethereum::usdc';
const deps = () => ({ ...world.moves, chains: world.chains });

/** An event of the order in a block, which is final unless it says otherwise. */
type Step = readonly [ChainEventName, 'final' | 'not final', values?: Readonly<Record<string, string>>];

const paid: Step = ['Paid', 'final'];
const settled: Step = ['Settled', 'final'];

async function show(order: StoredOrder, [name, finality, values = {}]: Step): Promise<void> {
  await world.mine('ethereum', [name, order, values]);
  if (finality === 'final') await world.mineFinal('ethereum');
}

async function orderAfter(steps: readonly Step[]): Promise<StoredOrder> {
  const order = await world.signOrder(await world.openSession(token), token);
  for (const step of steps) await show(order, step);
  return order;
}

/** Requests a refund: its id, status and amount, or the name of the refusal. */
async function ask(order: StoredOrder, amount: number | undefined, merchantId?: string) {
  const session = await world.session(order.sessionId);
  const body = { sessionId: order.sessionId, ...(amount === undefined ? {} : { amount }) };
  const request = { merchantId: merchantId ?? session.merchantId, body };
  try {
    const {
      refundId,
      status,
      amount: asked,
    } = await world.database.db.transaction((transaction) => createRefund(transaction, deps(), request));
    return { refundId, said: `${status} ${asked}` };
  } catch (error) {
    if (error instanceof Refusal) return { refundId: '', said: error.slug };
    throw error;
  }
}

/** The price. The merchant bears the fee, so the payer has paid just that. */
const all = 1_000_000;
const part = 400_000;

/** The events of the payment, and the answer to each requested amount. */
const requests: Readonly<
  Record<string, { readonly after: readonly Step[]; readonly says: readonly [number | undefined, string][] }>
> = {
  'nothing is paid': {
    after: [],
    says: [
      [undefined, 'refund_not_possible'],
      [part, 'refund_not_possible'],
    ],
  },
  'the payment is not final': {
    after: [['Paid', 'not final']],
    says: [
      [undefined, 'refund_not_possible'],
      [all, 'refund_not_possible'],
    ],
  },
  'the payment waits for its settlement': {
    after: [paid],
    says: [
      [all + 1, 'refund_exceeds'],
      [part, 'refund_not_possible'],
      [undefined, `pending ${all}`],
      [undefined, 'refund_not_possible'],
    ],
  },
  'the payment waits for its settlement, and all of it is named': {
    after: [paid],
    says: [[all, `pending ${all}`]],
  },
  'its settlement is in a block that is not final': {
    after: [paid, ['Settled', 'not final']],
    says: [[undefined, `requires_signature ${all}`]],
  },
  'the payment is settled': {
    after: [paid, settled],
    says: [
      [all + 1, 'refund_exceeds'],
      [part, `requires_signature ${part}`],
      [all - part + 1, 'refund_exceeds'],
      [undefined, `requires_signature ${all - part}`],
      [undefined, 'refund_exceeds'],
      [1, 'refund_exceeds'],
    ],
  },
  'part of a settled payment is back': {
    after: [paid, settled, ['SettlementRefunded', 'final', { value: '400000', refundedTotal: '400000' }]],
    says: [
      [all - part + 1, 'refund_exceeds'],
      [undefined, `requires_signature ${all - part}`],
    ],
  },
  'the payment is back with its payer by a refund': {
    after: [paid, ['Refunded', 'final']],
    says: [
      [1, 'refund_exceeds'],
      [undefined, 'refund_not_possible'],
    ],
  },
  'the payer has reclaimed the payment': {
    after: [paid, ['Reclaimed', 'final']],
    says: [
      [1, 'refund_exceeds'],
      [undefined, 'refund_not_possible'],
    ],
  },
  'the payer’s reclaim is in a block that is not final': {
    after: [paid, ['Reclaimed', 'not final']],
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
  const order = await orderAfter([paid]);
  assert.equal((await ask(order, undefined, 'mer_other')).said, 'session_not_found');
});

const refundedPart: Step = ['SettlementRefunded', 'final', { value: '400000', refundedTotal: '400000' }];

/** Events, the requested refunds, the next event, and what it makes of the refunds. */
const outcomes: Readonly<
  Record<
    string,
    {
      readonly after: readonly Step[];
      readonly asked: readonly (number | undefined)[];
      readonly next: Step;
      readonly become: readonly string[];
      readonly refunded: number;
    }
  >
> = {
  'the platform’s refund completes it': {
    after: [paid],
    ...{ asked: [undefined], next: ['Refunded', 'final'], become: ['completed'], refunded: all },
  },
  'a refund that is not final changes nothing': {
    after: [paid],
    ...{ asked: [undefined], next: ['Refunded', 'not final'], become: ['pending'], refunded: 0 },
  },
  'the payer’s own reclaim completes it': {
    after: [paid],
    ...{ asked: [undefined], next: ['Reclaimed', 'final'], become: ['completed'], refunded: all },
  },
  'a settlement that came first ends it': {
    after: [paid],
    ...{ asked: [undefined], next: settled, become: ['failed'], refunded: 0 },
  },
  'the merchant’s transaction completes the refund of its amount alone': {
    after: [paid, settled],
    ...{ asked: [part, all - part], next: refundedPart, become: ['completed', 'requires_signature'] },
    refunded: part,
  },
  'of two refunds of one amount the older one is completed': {
    after: [paid, settled],
    ...{ asked: [part, part], next: refundedPart, become: ['completed', 'requires_signature'] },
    refunded: part,
  },
  'a refund of more than is left fails': {
    after: [paid, settled],
    asked: [part, all - part],
    next: ['SettlementRefunded', 'final', { value: '500000', refundedTotal: '500000' }],
    ...{ become: ['requires_signature', 'failed'], refunded: 500_000 },
  },
  'an amount without a request shows on the session, and completes nothing': {
    after: [paid, settled],
    asked: [part],
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

test('a refund event that comes back after a reorg below finality completes no second refund of its amount', async () => {
  const order = await orderAfter([paid, settled]);
  const { merchantId } = await world.session(order.sessionId);
  const refundIds = [(await ask(order, part)).refundId, (await ask(order, part)).refundId];
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
  const alone: Step = ['SettlementRefunded', 'final', { value: '7', refundedTotal: '800007' }];
  const amounts = async () =>
    (await refundsOfSession(world.database.db, order.sessionId)).map(({ amount }) => amount);
  await show(order, alone);
  assert.deepEqual(await amounts(), [part, part, 7]);
  await world.dropFinal('ethereum', 2n);
  await show(order, alone);
  assert.deepEqual(await amounts(), [part, part, 7]);
});

/** Cancels a refund of the order: its new status, or the name of the refusal. */
async function cancel({ sessionId }: StoredOrder, refundId: string, merchantId?: string): Promise<string> {
  const session = await world.session(sessionId);
  const request = { merchantId: merchantId ?? session.merchantId, refundId };
  try {
    return (await world.database.db.transaction((transaction) => cancelRefund(transaction, deps(), request)))
      .status;
  } catch (error) {
    if (error instanceof Refusal) return error.slug;
    throw error;
  }
}

const statusesOf = async (order: StoredOrder, refundIds: readonly string[]) => {
  const { merchantId } = await world.session(order.sessionId);
  const found: string[] = [];
  for (const refundId of refundIds)
    found.push((await findRefund(world.database.db, deps(), { merchantId, refundId })).status);
  return found;
};

const seenPart: Step = ['SettlementRefunded', 'not final', { value: '400000', refundedTotal: '400000' }];
const seenOther: Step = ['SettlementRefunded', 'not final', { value: '5', refundedTotal: '5' }];

/** The events of the payment, the events after the refund was requested, and what cancelling it answers. */
const cancellings: Readonly<
  Record<string, { readonly after: readonly Step[]; readonly next: readonly Step[]; readonly says: string }>
> = {
  'a refund that waits for a wallet': { after: [paid, settled], next: [], says: 'cancelled' },
  'a refund that the platform sends': { after: [paid], next: [], says: 'refund_not_cancellable' },
  'a refund that is completed': {
    ...{ after: [paid, settled], next: [refundedPart], says: 'refund_not_cancellable' },
  },
  'a refund that failed': {
    ...{ after: [paid], next: [settled], says: 'refund_not_cancellable' },
  },
  'a refund whose return is in a block that is not final': {
    ...{ after: [paid, settled], next: [seenPart], says: 'refund_not_cancellable' },
  },
  'a refund while another amount is on its way': {
    ...{ after: [paid, settled], next: [seenOther], says: 'cancelled' },
  },
};

for (const [name, { after: steps, next, says }] of Object.entries(cancellings)) {
  test(`cancelling ${name}: ${says}`, async () => {
    const order = await orderAfter(steps);
    const { refundId } = await ask(order, steps.includes(settled) ? part : undefined);
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
  const order = await orderAfter([paid, settled]);
  const { refundId } = await ask(order, part);
  assert.equal(await cancel(order, refundId, 'mer_other'), 'refund_not_found');
  assert.equal(await cancel(order, 'rfd_none'), 'refund_not_found');
  assert.deepEqual(await statusesOf(order, [refundId]), ['requires_signature']);
  // In the same moment, which PostgreSQL orders by the lock of the row.
  const answers = await Promise.all(Array.from({ length: 8 }, () => cancel(order, refundId)));
  assert.deepEqual(answers, Array(8).fill('cancelled'));
  assert.deepEqual(await world.eventsOf(refundId), ['refund.created', 'refund.cancelled']);
});

test('a refund that a wallet was asked to sign is not cancelled, and a cancelled one is not signed', async () => {
  const order = await orderAfter([paid, settled]);
  const { merchantId } = await world.session(order.sessionId);
  const [{ refundId }, other] = [await ask(order, part), await ask(order, all - part)];
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
    const order = await orderAfter([paid, settled]);
    const { merchantId } = await world.session(order.sessionId);
    const { refundId } = await ask(order, part);
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
    ...{ asked: [part], cancelled: [0], returns: [[part, part]], become: ['completed'] },
  },
  'a return beside a cancelled and a waiting refund of the amount pays the waiting one': {
    ...{ asked: [part, part], cancelled: [0], returns: [[part, part]], become: ['cancelled', 'completed'] },
  },
  'two returns pay the waiting and then the cancelled refund of the amount': {
    asked: [part, part],
    cancelled: [0],
    returns: [
      [part, part],
      [part, part + part],
    ],
    become: ['completed', 'completed'],
  },
  'a return of another amount leaves a cancelled refund as it is': {
    ...{ asked: [part], cancelled: [0], returns: [[5, 5]], become: ['cancelled'] },
  },
  'a late return of everything fails what waits': {
    ...{ asked: [all, part], cancelled: [0], returns: [[all, all]], become: ['completed', 'failed'] },
  },
  'a late return fails a waiting refund of more than it leaves': {
    asked: [600_000, 500_000],
    ...{ cancelled: [0], returns: [[600_000, 600_000]], become: ['completed', 'failed'] },
  },
  // The gateway returns no more than is left, so an event that says so tells of money that is counted already.
  'a late return of more than is left completes nothing': {
    asked: [all, part],
    cancelled: [0],
    returns: [
      [part, part],
      [all, all],
    ],
    become: ['cancelled', 'completed'],
  },
  'an event that is read again pays one cancelled refund': {
    asked: [part, part],
    cancelled: [0, 1],
    returns: [
      [part, part],
      [part, part],
    ],
    become: ['completed', 'cancelled'],
  },
};

for (const [name, { asked, cancelled, returns, become }] of Object.entries(lateReturns)) {
  test(`${name}: ${become.join(', ')}`, async () => {
    const order = await orderAfter([paid, settled]);
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
    const left = all - back;
    assert.equal((await ask(order, left + 1)).said, 'refund_exceeds');
    if (left > 0) assert.equal((await ask(order, undefined)).said, `requires_signature ${left}`);
  });
}

test('of a cancelling and the final return in the same moment, the money counts once either way', async () => {
  for (let round = 0; round < 3; round += 1) {
    const order = await orderAfter([paid, settled]);
    const { refundId } = await ask(order, part);
    const [answer] = await Promise.all([cancel(order, refundId), show(order, refundedPart)]);
    assert.ok(['cancelled', 'refund_not_cancellable'].includes(answer), answer);
    assert.deepEqual(await statusesOf(order, [refundId]), ['completed']);
    assert.equal((await world.session(order.sessionId)).refundedAmount, BigInt(part));
    const types = await world.eventsOf(refundId);
    assert.equal(types.filter((type) => type === 'refund.completed').length, 1);
  }
});
