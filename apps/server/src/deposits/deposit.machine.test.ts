import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DepositState, type DepositVerdict, verdictOf } from './deposit.machine.ts';

/** Nothing final yet, in time, with enough. */
const funded: DepositState = {
  orderId: '0x01',
  amount: 100n,
  total: 100n,
  least: 98n,
  payBy: 1_000n,
  finalTime: 1_000n,
  headTime: 820n,
  paidOrderId: '',
  isPaymentSeen: false,
  isExpired: false,
  isLateAccepted: false,
  isPromised: false,
};
const returned = (kind: 'overpaid' | 'duplicate' | 'underpaid' | 'late') =>
  ({ move: 'return', kind }) as const;
const held = (kind: 'underpaid' | 'late') => ({ move: 'hold', kind }) as const;

const cases: [string, Partial<DepositState>, DepositVerdict][] = [
  ['an empty address is nothing, whatever else holds', { amount: 0n, paidOrderId: '0x02' }, { move: 'none' }],
  // proves W8.2
  ['the total, up to the last second, is collected', {}, { move: 'collect' }],
  ['more than the total is collected as well', { amount: 101n }, { move: 'collect' }],
  // proves W8.2
  ['one unit less than the total is not collected', { amount: 99n, least: 100n }, { move: 'wait' }],
  ['less than what counts as paid may become more', { amount: 97n }, { move: 'wait' }],
  ['what a deposit lacks within the tolerance is added', { amount: 98n }, { move: 'add' }],
  [
    'nothing is added in the last minutes, lest the payer get it',
    { amount: 98n, headTime: 821n },
    { move: 'wait' },
  ],
  ['a payment in a block may be this one: wait until it is final', { isPaymentSeen: true }, { move: 'wait' }],
  ['nothing is added while a payment is seen', { amount: 98n, isPaymentSeen: true }, { move: 'wait' }],
  // proves W8.2
  [
    'what is left after the order is paid is too much',
    { paidOrderId: '0x01', amount: 1n },
    returned('overpaid'),
  ],
  [
    'what came for a session that another order paid is a second payment',
    { paidOrderId: '0x02' },
    returned('duplicate'),
  ],
  // proves W8.2
  [
    'less than the total after the deadline is too little',
    { amount: 99n, finalTime: 1_001n },
    returned('underpaid'),
  ],
  ['the total after the deadline is late', { finalTime: 1_001n }, returned('late')],
  [
    'after the payment the deadline says nothing',
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
    'in the last minute nothing is promised that a block may not carry in time',
    { isExpired: true, isLateAccepted: true, headTime: 941n },
    held('late'),
  ],
  ['until then it is', { isExpired: true, isLateAccepted: true, headTime: 940n }, { move: 'collect' }],
  [
    'what was promised before is tried up to the last second',
    { isExpired: true, isLateAccepted: true, isPromised: true, headTime: 1_000n },
    { move: 'collect' },
  ],
  [
    'a session that is open promises nothing, up to the last second',
    { headTime: 1_000n },
    { move: 'collect' },
  ],
  [
    'less after the end, within the tolerance, is added to once it is accepted',
    { amount: 98n, isExpired: true, isLateAccepted: true },
    { move: 'add' },
  ],
  [
    'less than what counts as paid is not taken after the end, whatever is accepted',
    { amount: 97n, isExpired: true, isLateAccepted: true },
    held('underpaid'),
  ],
  [
    'what was accepted too late for the contract goes back',
    { isExpired: true, isLateAccepted: true, finalTime: 1_001n },
    returned('late'),
  ],
  [
    'what came in time to a session that is still open is collected until the deadline of the contract',
    { finalTime: 999n },
    { move: 'collect' },
  ],
];

for (const [rule, change, verdict] of cases) {
  test(rule, () => assert.deepEqual(verdictOf({ ...funded, ...change }), verdict));
}
