import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DepositState, verdictOf } from './deposit.machine.ts';

/** Nothing final yet, in time, with enough. */
const funded: DepositState = {
  orderId: '0x01',
  amount: 100n,
  total: 100n,
  payBy: 1_000n,
  finalTime: 1_000n,
  paidOrderId: '',
  isPaymentSeen: false,
};

const cases: [string, Partial<DepositState>, string][] = [
  ['an empty address is nothing, whatever else holds', { amount: 0n, paidOrderId: '0x02' }, 'nothing'],
  ['the total, up to the last second, is collected', {}, 'collect'],
  ['more than the total is collected as well', { amount: 101n }, 'collect'],
  ['less than the total may become more', { amount: 99n }, 'wait'],
  ['a payment in a block may be this one: wait until it is final', { isPaymentSeen: true }, 'wait'],
  ['what is left after the order is paid is too much', { paidOrderId: '0x01', amount: 1n }, 'overpaid'],
  [
    'what came for a session that another order paid is a second payment',
    { paidOrderId: '0x02' },
    'duplicate',
  ],
  ['less than the total after the deadline is too little', { amount: 99n, finalTime: 1_001n }, 'underpaid'],
  ['the total after the deadline is late', { finalTime: 1_001n }, 'late'],
  ['after the payment the deadline says nothing', { paidOrderId: '0x01', finalTime: 1_001n }, 'overpaid'],
];

for (const [rule, change, verdict] of cases) {
  test(rule, () => assert.equal(verdictOf({ ...funded, ...change }), verdict));
}
