import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf, sentMove, sentMoves, sentStatuses, sentTriggers } from './sent.machine.ts';

/** Every allowed pair of status and trigger; all others must be refused. */
const expected = new Map<string, string>([
  ['pending execution_succeeded', 'succeeded'],
  ['pending execution_reverted', 'failed'],
  ['pending nonce_taken', 'superseded'],
  ['succeeded block_taken_back', 'pending'],
  ['failed block_taken_back', 'pending'],
]);

test('every pair of sent transaction status and trigger moves as written or is refused', () => {
  for (const status of sentStatuses) {
    for (const trigger of sentTriggers) {
      const pair = `${status} ${trigger}`;
      assert.equal(sentMove(status, trigger)?.to, expected.get(pair), pair);
    }
  }
  assert.equal(sentMoves.length, expected.size);
});

test('a pending transaction ends by every trigger except a revert', () => {
  assert.deepEqual(
    sentTriggers.slice(0, 3).map((trigger) => outcomeOf(trigger)),
    ['succeeded', 'failed', 'superseded'],
  );
  assert.throws(() => outcomeOf('block_taken_back'), RangeError);
});
