import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PaymentFacts, type PaymentOutcome, paymentOutcomeOf } from './accepted-payment.ts';

const nothing: PaymentFacts = {
  sent: '',
  isMoved: false,
  isOrderPaid: false,
  isOtherPaid: false,
  isSessionExpired: false,
  isPrivate: false,
};
const sends = ['', 'sent', 'succeeded', 'failed'] as const;
const booleans = [false, true];

type Rule = readonly [name: string, facts: Partial<PaymentFacts>, outcome: PaymentOutcome];
const rules: readonly Rule[] = [
  ['nothing is sent', {}, 'unsent'],
  ['our transaction is on its way', { sent: 'sent' }, 'pending'],
  ['our transaction has succeeded', { sent: 'succeeded' }, 'pending'],
  ['our transaction has failed', { sent: 'failed' }, 'unsent'],
  ['the money was there once', { isMoved: true }, 'unsent'],
  ['the money was there before ours failed', { sent: 'failed', isMoved: true }, 'unsent'],
  ['paid at a private address', { sent: 'sent', isOrderPaid: true, isPrivate: true }, 'seen'],
  ['paid at a private address by others', { sent: 'failed', isOrderPaid: true, isPrivate: true }, 'seen'],
  ['paid after our transaction', { sent: 'succeeded', isOrderPaid: true }, 'seen'],
  ['paid after the payer’s transfer', { sent: 'failed', isMoved: true, isOrderPaid: true }, 'seen'],
  ['paid while ours is on its way', { sent: 'sent', isOrderPaid: true }, 'unproven'],
  ['paid though ours has failed', { sent: 'failed', isOrderPaid: true }, 'unproven'],
  ['another order has paid', { sent: 'succeeded', isOtherPaid: true }, 'paid_otherwise'],
  ['another order has paid first', { sent: 'sent', isOtherPaid: true, isPrivate: true }, 'paid_otherwise'],
  ['the session is over', { sent: 'succeeded', isSessionExpired: true }, 'expired'],
  ['paid in the last moment', { sent: 'succeeded', isOrderPaid: true, isSessionExpired: true }, 'seen'],
];

for (const [name, facts, outcome] of rules)
  test(`${name}: ${outcome}`, () => assert.equal(paymentOutcomeOf({ ...nothing, ...facts }), outcome));

test('a payment outside any block is not seen, nor one to a shared address without proof', () => {
  for (const sent of sends)
    for (const isMoved of booleans)
      for (const isOtherPaid of booleans)
        for (const isSessionExpired of booleans) {
          const facts = { ...nothing, sent, isMoved, isOtherPaid, isSessionExpired };
          for (const isPrivate of booleans)
            assert.notEqual(paymentOutcomeOf({ ...facts, isPrivate }), 'seen');
          const isProven = isMoved || sent === 'succeeded';
          assert.equal(paymentOutcomeOf({ ...facts, isOrderPaid: true }) === 'seen', isProven);
        }
});
