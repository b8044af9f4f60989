import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deliveryMove,
  deliveryMoves,
  deliveryStatuses,
  deliveryTriggers,
  statusesBefore,
} from './delivery.machine.ts';

/** Every pair of status and trigger that is allowed. All others must be refused. */
const expected = new Map<string, string>([
  ['pending accepted', 'succeeded'],
  ['pending attempt_failed', 'pending'],
  ['pending attempts_exhausted', 'failed'],
  ['pending webhook_removed', 'skipped'],
  ['pending resend', 'pending'],
  ['succeeded resend', 'pending'],
  ['failed resend', 'pending'],
  ['skipped resend', 'pending'],
  ['failed replay', 'pending'],
  ['skipped replay', 'pending'],
]);

test('every pair of delivery status and trigger moves as listed or is refused', () => {
  for (const status of deliveryStatuses) {
    for (const trigger of deliveryTriggers) {
      const pair = `${status} ${trigger}`;
      const to = expected.get(pair);
      if (to === undefined) assert.throws(() => deliveryMove(status, trigger), RangeError, pair);
      else assert.equal(deliveryMove(status, trigger).to, to, pair);
    }
  }
  assert.equal(deliveryMoves.length, expected.size);
});

test('the statuses before a trigger are those that it moves', () => {
  assert.deepEqual(statusesBefore('replay'), ['failed', 'skipped']);
  assert.deepEqual(statusesBefore('accepted'), ['pending']);
});
