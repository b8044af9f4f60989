import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sessionStatuses } from '@florin/protocol/session.ts';
import { sessionMove, sessionMoves, sessionTriggers } from './session.machine.ts';

/** Every pair of status and trigger that moves, written out; all others must be refused. */
const expected = new Map<string, string>([
  ['initialized order_signed', 'initialized'],
  ['initialized orders_lapsed', 'initialized'],
  ['initialized payment_detected', 'initialized session.payment_detected'],
  ['initialized payment_undetected', 'initialized'],
  ['initialized payment_final', 'paid session.paid'],
  ['expired late_payment_detected', 'expired session.payment_detected'],
  ['expired late_payment_undetected', 'expired'],
  ['expired late_payment_final', 'paid session.paid'],
  ['initialized expire', 'expired session.expired'],
  ['initialized cancel', 'cancelled session.cancelled'],
  ['paid settlement_recorded', 'settling session.settling'],
  ['paid settlement_final', 'completed session.completed'],
  ['paid settlement_delayed', 'settlement_pending session.settlement_pending'],
  ['settling settlement_final', 'completed session.completed'],
  ['settling settlement_delayed', 'settlement_pending session.settlement_pending'],
  ['completed settlement_delayed', 'settlement_pending session.settlement_pending'],
  ['settlement_pending settlement_recorded', 'settling session.settling'],
  ['paid payment_returned', 'paid'],
  ['settling payment_returned', 'paid'],
  ['settlement_pending payment_returned', 'paid'],
  ['paid settlement_refunded', 'paid'],
  ['settling settlement_refunded', 'settling'],
  ['completed settlement_refunded', 'completed'],
  ['settlement_pending settlement_refunded', 'settlement_pending'],
  ['paid return_lost', 'paid'],
  ['settling return_lost', 'settling'],
  ['completed return_lost', 'completed'],
  ['settlement_pending return_lost', 'settlement_pending'],
  ['paid payment_lost', 'settlement_pending session.settlement_pending'],
  ['settling payment_lost', 'settlement_pending session.settlement_pending'],
  ['completed payment_lost', 'settlement_pending session.settlement_pending'],
  ['settlement_pending payment_lost', 'settlement_pending session.settlement_pending'],
  ['settlement_pending payment_restored', 'settlement_pending session.settlement_pending'],
  ['expired payment_restored', 'settlement_pending session.settlement_pending'],
  ['settlement_pending payment_lapsed', 'expired session.expired'],
  ['settlement_pending settlement_final', 'completed session.completed'],
]);

// proves S3.4, W4.10
test('every pair of status and trigger either moves as written or is refused', () => {
  for (const status of sessionStatuses) {
    for (const trigger of sessionTriggers) {
      const move = sessionMove({ status, signedOnce: false }, trigger);
      const seen = move === undefined ? undefined : [move.to, move.event].filter(Boolean).join(' ');
      assert.equal(seen, expected.get(`${status} ${trigger}`), `${status} ${trigger}`);
    }
  }
});

// proves S3.4
test('a signed session moves like an unsigned one, but cannot be cancelled', () => {
  for (const status of sessionStatuses) {
    for (const trigger of sessionTriggers) {
      const unsigned = sessionMove({ status, signedOnce: false }, trigger);
      const signed = sessionMove({ status, signedOnce: true }, trigger);
      assert.deepEqual(signed, trigger === 'cancel' ? undefined : unsigned, `${status} ${trigger}`);
    }
  }
});

// proves W4.10
test('no pair has two moves', () => {
  const pairs = sessionMoves.map((move) => `${move.from} ${move.trigger} ${move.signedOnce}`);
  assert.equal(new Set(pairs).size, pairs.length);
});
