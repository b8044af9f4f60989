import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refundStatuses } from '@florin/protocol/refund.ts';
import { refundMove, refundTriggers } from './refund.machine.ts';

const expected = new Map<string, string>([
  ['pending payment_returned', 'completed refund.completed'],
  ['pending payment_settled', 'failed refund.failed'],
  ['requires_signature settlement_refunded', 'completed refund.completed'],
  ['requires_signature amount_exceeded', 'failed refund.failed'],
  ['requires_signature payment_returned', 'failed refund.failed'],
  ['requires_signature cancel', 'cancelled refund.cancelled'],
  ['cancelled settlement_refunded', 'completed refund.completed'],
  ['completed payment_return_lost', 'pending refund.reopened'],
  ['completed settlement_return_lost', 'requires_signature refund.reopened'],
  ['completed cancelled_return_lost', 'cancelled refund.reopened'],
]);

test('the table is total: every pair of status and trigger either moves as written or is refused', () => {
  for (const status of refundStatuses) {
    for (const trigger of refundTriggers) {
      const move = refundMove(status, trigger);
      const seen = move === undefined ? undefined : `${move.to} ${move.event}`;
      assert.equal(seen, expected.get(`${status} ${trigger}`), `${status} ${trigger}`);
    }
  }
});
