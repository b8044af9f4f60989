import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import type { ChainEventName } from '#contracts/event.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { createRefund, findRefund } from './refund.ts';

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
      [undefined, `requires_signature ${all}`],
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
    ...{ asked: [part, undefined], next: refundedPart, become: ['completed', 'failed'], refunded: part },
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
});
