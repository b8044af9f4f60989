import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DepositState, type DepositVerdict, verdictOf } from './deposit.machine.ts';

/** In time, with the whole amount, and nothing final yet. */
const funded: DepositState = {
  orderId: '0x01',
  amount: 100n,
  total: 100n,
  least: 98n,
  payBy: 1_000n,
  finalTime: 1_000n,
  headTime: 820n,
  paidOrderId: '',
  isPaymentLost: false,
  isPaymentSeen: false,
  isExpired: false,
  isLateAccepted: false,
  isPromised: false,
};
const returned = (kind: 'overpaid' | 'duplicate' | 'underpaid' | 'late') =>
  ({ move: 'return', kind }) as const;
const held = (kind: 'underpaid' | 'late') => ({ move: 'hold', kind }) as const;

const cases: [string, Partial<DepositState>, DepositVerdict][] = [
  ['an empty address needs no move', { amount: 0n, paidOrderId: '0x02' }, { move: 'none' }],
  // proves W8.2
  ['the total, up to the last second, is collected', {}, { move: 'collect' }],
  ['more than the total is collected as well', { amount: 101n }, { move: 'collect' }],
  // proves W8.2
  ['one unit less than the total is not collected', { amount: 99n, least: 100n }, { move: 'wait' }],
  ['less than what counts as paid may become more', { amount: 97n }, { move: 'wait' }],
  ['a deposit within the tolerance gets the rest added', { amount: 98n }, { move: 'add' }],
  [
    'nothing is added in the last minutes, because the payer could get it',
    { amount: 98n, headTime: 821n },
    { move: 'wait' },
  ],
  ['a payment in a block may be this one: wait until it is final', { isPaymentSeen: true }, { move: 'wait' }],
  ['nothing is added while a payment is seen', { amount: 98n, isPaymentSeen: true }, { move: 'wait' }],
  // proves W8.2
  [
    'money that is left after the order is paid is too much',
    { paidOrderId: '0x01', amount: 1n },
    returned('overpaid'),
  ],
  [
    'money for a session that another order paid is a second payment',
    { paidOrderId: '0x02' },
    returned('duplicate'),
  ],
  [
    'the total of a payment that a reorg took back is collected again',
    { paidOrderId: '0x01', isPaymentLost: true, isPaymentSeen: true },
    { move: 'collect' },
  ],
  [
    'less than the total of such a payment may become more',
    { paidOrderId: '0x01', isPaymentLost: true, isPaymentSeen: true, amount: 99n },
    { move: 'wait' },
  ],
  [
    'such a payment that was not collected again in time goes back',
    { paidOrderId: '0x01', isPaymentLost: true, isPaymentSeen: true, finalTime: 1_001n },
    returned('late'),
  ],
  // proves W8.2
  [
    'less than the total after the deadline is too little',
    { amount: 99n, finalTime: 1_001n },
    returned('underpaid'),
  ],
  ['the total after the deadline is late', { finalTime: 1_001n }, returned('late')],
  [
    'after the payment the deadline does not matter',
    { paidOrderId: '0x01', finalTime: 1_001n },
    returned('overpaid'),
  ],
  ['the total after the end of the session waits for a decision', { isExpired: true }, held('late')],
  [
    'less after the end of the session may still be topped up',
    { amount: 98n, isExpired: true },
    held('underpaid'),
  ],
  [
    'the total after the end is collected once it is accepted',
    { isExpired: true, isLateAccepted: true },
    { move: 'collect' },
  ],
  [
    'in the last minute a late deposit is not accepted, because its collection may come too late',
    { isExpired: true, isLateAccepted: true, headTime: 941n },
    held('late'),
  ],
  ['up to then it is', { isExpired: true, isLateAccepted: true, headTime: 940n }, { move: 'collect' }],
  [
    'a deposit that was promised before is tried up to the last second',
    { isExpired: true, isLateAccepted: true, isPromised: true, headTime: 1_000n },
    { move: 'collect' },
  ],
  ['a deposit for an open session is tried up to the last second', { headTime: 1_000n }, { move: 'collect' }],
  [
    'a short deposit after the end gets the rest added once it is accepted',
    { amount: 98n, isExpired: true, isLateAccepted: true },
    { move: 'add' },
  ],
  [
    'less than the tolerance allows is never taken after the end',
    { amount: 97n, isExpired: true, isLateAccepted: true },
    held('underpaid'),
  ],
  [
    'an accepted deposit goes back after the contract’s deadline',
    { isExpired: true, isLateAccepted: true, finalTime: 1_001n },
    returned('late'),
  ],
  [
    'a deposit in time for an open session is collected until the contract’s deadline',
    { finalTime: 999n },
    { move: 'collect' },
  ],
];

for (const [rule, change, verdict] of cases) {
  test(rule, () => assert.deepEqual(verdictOf({ ...funded, ...change }), verdict));
}

const seconds = fc.bigInt({ min: 900n, max: 1_100n });
const anyStates: fc.Arbitrary<DepositState> = fc.record({
  orderId: fc.constant('0x01'),
  amount: fc.bigInt({ min: 0n, max: 110n }),
  total: fc.constant(100n),
  least: fc.bigInt({ min: 90n, max: 100n }),
  payBy: seconds,
  finalTime: seconds,
  headTime: seconds,
  paidOrderId: fc.constantFrom('', '0x01', '0x02'),
  isPaymentLost: fc.boolean(),
  isPaymentSeen: fc.boolean(),
  isExpired: fc.boolean(),
  isLateAccepted: fc.boolean(),
  isPromised: fc.boolean(),
});
/** A session with a payment has not expired, also while that is lost. */
const states = anyStates.map((state) => ({
  ...state,
  isExpired: state.isExpired && state.paidOrderId === '',
}));

/** What is true of every decision, and of which. */
const always: Readonly<Record<string, (state: DepositState, verdict: DepositVerdict) => boolean>> = {
  'only the whole total is collected': ({ amount, total }, { move }) => move !== 'collect' || amount >= total,
  'only a deposit within the tolerance gets the rest added': ({ amount, least, total }, { move }) =>
    move !== 'add' || (amount >= least && amount < total),
  'a paid session takes nothing but the lost payment again': (state, { move }) =>
    state.paidOrderId === '' ||
    (state.isPaymentLost && state.paidOrderId === state.orderId) ||
    move === 'return' ||
    move === 'none',
  'nothing is taken after the deadline, and nothing is kept': ({ finalTime, payBy }, { move }) =>
    finalTime <= payBy || move === 'return' || move === 'none',
  'nothing goes back before the deadline while the session can be paid': (state, { move }) =>
    move !== 'return' || state.paidOrderId !== '' || state.finalTime > state.payBy,
  'after its end a session takes nothing without an acceptance': ({ isExpired, isLateAccepted }, { move }) =>
    !isExpired || isLateAccepted || (move !== 'collect' && move !== 'add'),
  'only money for an ended session is held': ({ isExpired }, { move }) => move !== 'hold' || isExpired,
};

for (const [rule, holds] of Object.entries(always)) {
  test(rule, () => fc.assert(fc.property(states, (state) => holds(state, verdictOf(state)))));
}
