import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ChainEventName } from '#chains/event.ts';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';

/** What a payment comes to, by what the chains show of it: the session, the books, and what must still happen on chain. */

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

type Payment = 'first' | 'second';
/** One block with one event, a reorganisation of the head block, or a block without events and finality up to it. */
type Step =
  | readonly [chain: 'ethereum' | 'base', 'final' | 'reorg']
  | readonly [chain: 'ethereum' | 'base', ChainEventName, Payment, values?: Readonly<Record<string, string>>];

interface Outcome {
  readonly status: string;
  /** Whose transaction the session shows: the last one of this payment; nothing when absent. */
  readonly shows?: Payment;
  /** What the session says has gone back: all of it, or nothing when absent. */
  readonly isReturned?: boolean;
  /** Changes of the books by account, in units of the token that was paid. */
  readonly books: (amounts: { total: bigint; net: bigint; fee: bigint }) => Record<string, bigint>;
  /** The session's events after its creation. */
  readonly events: readonly string[];
  /** What must still happen on chain, or has: by payment, leg and status. */
  readonly legs: readonly string[];
}

interface Course extends Outcome {
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

const courses: Readonly<Record<string, Course>> = {
  'a payment in a block is detected and books nothing': {
    steps: [['ethereum', 'Paid', 'first']],
    ...{ status: 'initialized', shows: 'first', books: nothing, events: [detected], legs: [] },
  },
  'a payment that is reorged out was never there': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'reorg'],
    ],
    ...{ status: 'initialized', books: nothing, events: [detected], legs: [] },
  },
  'a payment that comes back in another block shows its new transaction': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'reorg'],
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'final'],
    ],
    ...{ status: 'paid', shows: 'first', books: booked, legs: ['first settle waiting'] },
    events: [detected, detected, 'session.paid'],
  },
  'a final payment makes the session paid, is booked, and waits for its settlement': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'final'],
    ],
    ...{ status: 'paid', shows: 'first', books: booked, legs: ['first settle waiting'] },
    events: [detected, 'session.paid'],
  },
  'later final blocks book nothing twice': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'final'],
      ['ethereum', 'final'],
    ],
    ...{ status: 'paid', shows: 'first', books: booked, legs: ['first settle waiting'] },
    events: [detected, 'session.paid'],
  },
  'a settlement that is not final completes nothing': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'final'],
      ['ethereum', 'Settled', 'first'],
    ],
    ...{ status: 'paid', shows: 'first', books: booked, legs: ['first settle waiting'] },
    events: [detected, 'session.paid'],
  },
  'a final settlement completes the session, and the fee is earned': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'final'],
      ['ethereum', 'Settled', 'first'],
      ['ethereum', 'final'],
    ],
    ...{ status: 'completed', shows: 'first', books: settledBooks, legs: ['first settle done'] },
    events: [detected, 'session.paid', 'session.completed'],
  },
  'a payment and its settlement that are final at once are told in order': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'Settled', 'first'],
      ['ethereum', 'final'],
    ],
    ...{ status: 'completed', shows: 'first', books: settledBooks, legs: ['first settle done'] },
    events: [detected, 'session.paid', 'session.completed'],
  },
  'a refund takes the payment out of the books and leaves the session paid': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'final'],
      ['ethereum', 'Refunded', 'first'],
      ['ethereum', 'final'],
    ],
    ...{ status: 'paid', shows: 'first', isReturned: true, books: nothing, legs: ['first settle done'] },
    events: [detected, 'session.paid', 'session.exception refunded'],
  },
  'the payer’s own reclaim does the same': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'final'],
      ['ethereum', 'Reclaimed', 'first'],
      ['ethereum', 'final'],
    ],
    ...{ status: 'paid', shows: 'first', isReturned: true, books: nothing, legs: ['first settle done'] },
    events: [detected, 'session.paid', 'session.exception reclaimed'],
  },
  'a second payment is booked, and goes back': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'final'],
      ['ethereum', 'Paid', 'second'],
      ['ethereum', 'final'],
      ['ethereum', 'Refunded', 'second'],
      ['ethereum', 'final'],
    ],
    ...{ status: 'paid', shows: 'first', books: booked },
    legs: ['first settle waiting', 'second refund done'],
    events: [detected, 'session.paid', 'session.exception duplicate'],
  },
  'a second payment that was settled before it could go back is the merchant’s, who is told': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'Paid', 'second'],
      ['ethereum', 'final'],
      ['ethereum', 'Settled', 'second'],
      ['ethereum', 'final'],
    ],
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
  'of two payments the one that is final first counts, whichever was seen first': {
    steps: [
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'reorg'],
      ['ethereum', 'Paid', 'second'],
      ['ethereum', 'final'],
      ['ethereum', 'Paid', 'first'],
      ['ethereum', 'final'],
    ],
    ...{ status: 'paid', shows: 'second' },
    books: ({ total, net, fee }) => ({
      'gateway:ethereum': 2n * total,
      merchant: -2n * net,
      'fees:due': -2n * fee,
    }),
    legs: ['first refund waiting', 'second settle waiting'],
    events: [detected, detected, 'session.paid', 'session.exception duplicate'],
  },
  'a payment on another chain goes into that chain’s vault, and then waits for the payout': {
    paidWith: 'base::usdc',
    steps: [
      ['base', 'Paid', 'first'],
      ['base', 'final'],
      ['base', 'Settled', 'first'],
      ['base', 'final'],
    ],
    ...{ status: 'paid', shows: 'first' },
    books: ({ net, fee }) => ({ 'gateway:base': fee, fees: -fee, 'vault:base': net, float: -net }),
    legs: ['first payout waiting', 'first settle done'],
    events: [detected, 'session.paid'],
  },
  'the payout on the merchant’s chain completes it': {
    paidWith: 'base::usdc',
    steps: [
      ['base', 'Paid', 'first'],
      ['base', 'final'],
      ['base', 'Settled', 'first'],
      ['base', 'final'],
      ['ethereum', 'PaidOut', 'first', { amount: '7' }],
      ['ethereum', 'final'],
    ],
    ...{ status: 'completed', shows: 'first' },
    books: ({ net, fee }) => ({
      'gateway:base': fee,
      fees: -fee,
      'vault:base': net,
      float: 7n - net,
      'vault:ethereum': -7n,
    }),
    legs: ['first payout done', 'first settle done'],
    events: [detected, 'session.paid', 'session.completed'],
  },
};

/** Balances by account, merchants without their channel, all tokens together. */
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

for (const [name, course] of Object.entries(courses)) {
  test(name, async () => {
    const sessionId = await world.openSession('ethereum::usdc');
    const paidWith = course.paidWith ?? 'ethereum::usdc';
    const first = await world.signOrder(sessionId, paidWith);
    const orders = { first, second: await world.signOrder(sessionId, paidWith) };
    // What an earlier course has left in blocks that are not final is none of this one.
    for (const chain of ['ethereum', 'base']) await world.mineFinal(chain);
    const begun = await balances();
    const transactions: Partial<Record<Payment, string>> = {};
    for (const [chain, step, payment, values] of course.steps) {
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
    assert.deepEqual(Object.fromEntries(changed), course.books({ total, fee, net: total - fee }));
    assert.ok((await ledgerSums(world.database.db)).every((sum) => sum.total === 0n));
    assert.equal(session.status, course.status);
    assert.equal(session.initiateTx, course.shows === undefined ? '' : transactions[course.shows]);
    assert.equal(session.refundedAmount, course.isReturned === true ? first.amounts.totalValue : 0n);
    assert.deepEqual(await world.eventsOf(sessionId), ['session.created', ...course.events]);
    assert.deepEqual(await legsOf(orders), course.legs);
  });
}
