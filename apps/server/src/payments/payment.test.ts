import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainEventName } from '#contracts/event.ts';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';

/** What the session, the books, the events and the settlement legs show after each sequence of chain events. */

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

type Payment = 'first' | 'second';
/** A block with one event; or `reorg`: the head block is reorged out; or `final`: an empty block, and finality up to it. */
type Step =
  | readonly [chain: 'ethereum' | 'base', 'final' | 'reorg']
  | readonly [chain: 'ethereum' | 'base', ChainEventName, Payment, values?: Readonly<Record<string, string>>];

interface Outcome {
  readonly status: string;
  /** The session shows the last transaction of this payment; none when absent. */
  readonly shows?: Payment;
  /** Whether the session shows the whole payment as refunded. */
  readonly isReturned?: boolean;
  /** Changes of the books by account, in units of the paid token. */
  readonly books: (amounts: { total: bigint; net: bigint; fee: bigint }) => Record<string, bigint>;
  /** The session's events after its creation. */
  readonly events: readonly string[];
  /** Settlement legs: payment, leg and status. */
  readonly legs: readonly string[];
}

interface Rule extends Outcome {
  /** The token that the payer pays with; the merchant wants ethereum::usdc. */
  readonly paidWith?: string;
  readonly steps: readonly Step[];
}

const detected = 'session.payment_detected';
const booked = ({ total, net, fee }: { total: bigint; net: bigint; fee: bigint }) => ({
  'gateway:ethereum': total,
  merchant: -net,
  'fees:due': -fee,
});
const settledBooks = ({ fee }: { fee: bigint }) => ({ 'gateway:ethereum': fee, fees: -fee });
const nothing = () => ({});

const final: Step = ['ethereum', 'final'];
const finalOnBase: Step = ['base', 'final'];
const reorg: Step = ['ethereum', 'reorg'];
/** The event of either payment on ethereum, and of the first one on base. */
const stepsOf = (event: ChainEventName): Record<Payment | 'onBase', Step> => ({
  first: ['ethereum', event, 'first'],
  second: ['ethereum', event, 'second'],
  onBase: ['base', event, 'first'],
});
const paid = stepsOf('Paid');
const settled = stepsOf('Settled');
const refunded = stepsOf('Refunded');
const reclaimed = stepsOf('Reclaimed');

/** The first payment is final, and nothing is settled. */
const waiting: Outcome = {
  ...{ status: 'paid', shows: 'first', books: booked, legs: ['first settle waiting'] },
  events: [detected, 'session.paid'],
};
/** The first payment is settled. */
const completed: Outcome = {
  ...{ status: 'completed', shows: 'first', books: settledBooks, legs: ['first settle done'] },
  events: [detected, 'session.paid', 'session.completed'],
};

const rules: Readonly<Record<string, Rule>> = {
  'a payment in a block is detected and books nothing': {
    steps: [paid.first],
    ...{ status: 'initialized', shows: 'first', books: nothing, events: [detected], legs: [] },
  },
  // proves W4.12
  'a payment whose block is reorged out is undetected, and pays nothing when later blocks are final': {
    steps: [paid.first, reorg, final],
    ...{ status: 'initialized', books: nothing, events: [detected], legs: [] },
  },
  'a payment that is mined again after a reorg shows its new transaction': {
    steps: [paid.first, reorg, paid.first, final],
    ...{ status: 'paid', shows: 'first', books: booked, legs: ['first settle waiting'] },
    events: [detected, detected, 'session.paid'],
  },
  'a final payment is booked, makes the session paid and waits for its settlement': {
    steps: [paid.first, final],
    ...waiting,
  },
  'later final blocks book nothing twice': {
    steps: [paid.first, final, final],
    ...waiting,
  },
  'a settlement that is not final completes nothing': {
    steps: [paid.first, final, settled.first],
    ...waiting,
  },
  'a final settlement completes the session, and the fee is earned': {
    steps: [paid.first, final, settled.first, final],
    ...completed,
  },
  'a payment and its settlement that become final together raise their events in order': {
    steps: [paid.first, settled.first, final],
    ...completed,
  },
  'a refund removes the payment from the books and leaves the session paid': {
    steps: [paid.first, final, refunded.first, final],
    ...{ status: 'paid', shows: 'first', isReturned: true, books: nothing, legs: ['first settle done'] },
    events: [detected, 'session.paid', 'session.exception refunded'],
  },
  'a reclaim by the payer removes the payment from the books and leaves the session paid': {
    steps: [paid.first, final, reclaimed.first, final],
    ...{ status: 'paid', shows: 'first', isReturned: true, books: nothing, legs: ['first settle done'] },
    events: [detected, 'session.paid', 'session.exception reclaimed'],
  },
  // proves W4.6
  'a second payment of a session is booked and refunded': {
    steps: [paid.first, final, paid.second, final, refunded.second, final],
    ...{ status: 'paid', shows: 'first', books: booked },
    legs: ['first settle waiting', 'second refund done'],
    events: [detected, 'session.paid', 'session.exception duplicate'],
  },
  'a second payment that is settled before its refund stays with the merchant, who gets an exception': {
    steps: [paid.first, paid.second, final, settled.second, final],
    ...{ status: 'paid', shows: 'first' },
    books: ({ total, net, fee }) => ({
      'gateway:ethereum': total + fee,
      merchant: -net,
      'fees:due': -fee,
      fees: -fee,
    }),
    legs: ['first settle waiting', 'second refund done'],
    events: [detected, 'session.paid', 'session.exception duplicate', 'session.exception duplicate_settled'],
  },
  'of two payments the first final one pays the session, regardless of which was detected first': {
    steps: [paid.first, reorg, paid.second, final, paid.first, final],
    ...{ status: 'paid', shows: 'second' },
    books: ({ total, net, fee }) => ({
      'gateway:ethereum': 2n * total,
      merchant: -2n * net,
      'fees:due': -2n * fee,
    }),
    legs: ['first refund waiting', 'second settle waiting'],
    events: [detected, detected, 'session.paid', 'session.exception duplicate'],
  },
  'a payment on another chain is settled into the vault of that chain, and then waits for its payout': {
    paidWith: 'base::usdc',
    steps: [paid.onBase, finalOnBase, settled.onBase, finalOnBase],
    ...{ status: 'paid', shows: 'first' },
    books: ({ net, fee }) => ({ 'gateway:base': fee, fees: -fee, 'vault:base': net, float: -net }),
    legs: ['first payout waiting', 'first settle done'],
    events: [detected, 'session.paid'],
  },
  'a final payout on the merchant’s chain completes the session': {
    paidWith: 'base::usdc',
    steps: [
      paid.onBase,
      finalOnBase,
      settled.onBase,
      finalOnBase,
      ['ethereum', 'PaidOut', 'first', { amount: '994000' }],
      final,
    ],
    ...{ status: 'completed', shows: 'first' },
    books: ({ net, fee }) => ({
      'gateway:base': fee,
      fees: -fee,
      'vault:base': net,
      float: 994_000n - net,
      'vault:ethereum': -994_000n,
    }),
    legs: ['first payout done', 'first settle done'],
    events: [detected, 'session.paid', 'session.completed'],
  },
};

/** Balances by account, without the merchant’s channel; the sum of all tokens. */
async function balances(): Promise<Record<string, bigint>> {
  const sums: Record<string, bigint> = {};
  for (const { account, balance } of await ledgerBalances(world.database.db)) {
    const name = account.startsWith('merchant:') ? 'merchant' : account;
    sums[name] = (sums[name] ?? 0n) + balance;
  }
  return sums;
}

async function legsOf(orders: Readonly<Record<Payment, StoredOrder>>): Promise<string[]> {
  const legs: string[] = [];
  for (const payment of ['first', 'second'] as const) {
    for (const { leg, status } of await world.legs(orders[payment])) legs.push(`${payment} ${leg} ${status}`);
  }
  return legs;
}

for (const [name, rule] of Object.entries(rules)) {
  test(name, async () => {
    const sessionId = await world.openSession('ethereum::usdc');
    const paidWith = rule.paidWith ?? 'ethereum::usdc';
    const first = await world.signOrder(sessionId, paidWith);
    const orders = { first, second: await world.signOrder(sessionId, paidWith) };
    // Earlier tests may have left blocks that are not final.
    for (const chain of ['ethereum', 'base']) await world.mineFinal(chain);
    const begun = await balances();
    const transactions: Partial<Record<Payment, string>> = {};
    for (const [chain, step, payment, values] of rule.steps) {
      if (step === 'final') await world.mineFinal(chain);
      else if (step === 'reorg') await world.reorg(chain);
      else if (payment !== undefined) {
        const txHash = await world.mine(chain, [step, orders[payment], values ?? {}]);
        if (step === 'Paid') transactions[payment] = txHash;
      }
    }
    const session = await world.session(sessionId);
    const changed = Object.entries(await balances())
      .map(([account, sum]) => [account, sum - (begun[account] ?? 0n)] as const)
      .filter(([, sum]) => sum !== 0n);
    const { total, fee } = first.order;
    assert.deepEqual(Object.fromEntries(changed), rule.books({ total, fee, net: total - fee }));
    assert.ok((await ledgerSums(world.database.db)).every((sum) => sum.total === 0n));
    assert.equal(session.status, rule.status);
    assert.equal(session.initiateTx, rule.shows === undefined ? '' : transactions[rule.shows]);
    assert.equal(session.refundedAmount, rule.isReturned === true ? first.amounts.totalValue : 0n);
    assert.deepEqual(await world.eventsOf(sessionId), ['session.created', ...rule.events]);
    assert.deepEqual(await legsOf(orders), rule.legs);
  });
}

test('every payment of a block is detected, and its session is paid when the block is final', async () => {
  const sessionIds: string[] = [];
  const orders = [];
  for (let count = 0; count < 5; count += 1) {
    const sessionId = await world.openSession('ethereum::usdc');
    sessionIds.push(sessionId);
    orders.push(await world.signOrder(sessionId, 'ethereum::usdc'));
  }
  const txHash = await world.mine('ethereum', ...orders.map((order) => ['Paid', order] as const));
  for (const sessionId of sessionIds) {
    assert.equal((await world.session(sessionId)).initiateTx, txHash);
    assert.deepEqual(await world.eventsOf(sessionId), ['session.created', 'session.payment_detected']);
  }
  await world.makeFinal('ethereum');
  for (const sessionId of sessionIds) assert.equal((await world.session(sessionId)).status, 'paid');
});

test('of two payments of one session in one block the first pays it, and the second is a duplicate', async () => {
  const sessionId = await world.openSession('ethereum::usdc');
  const first = await world.signOrder(sessionId, 'ethereum::usdc');
  const second = await world.signOrder(sessionId, 'ethereum::usdc');
  const txHash = await world.mine('ethereum', ['Paid', first], ['Paid', second]);
  assert.equal((await world.session(sessionId)).initiateTx, txHash);
  await world.makeFinal('ethereum');
  const session = await world.session(sessionId);
  assert.deepEqual([session.status, session.orderId], ['paid', first.orderId]);
  assert.deepEqual(await world.eventsOf(sessionId), [
    'session.created',
    'session.payment_detected',
    'session.paid',
    'session.exception duplicate',
  ]);
  const legsOf = async (order: typeof first) => (await world.legs(order)).map(({ leg }) => leg);
  assert.deepEqual([await legsOf(first), await legsOf(second)], [['settle'], ['refund']]);
});
