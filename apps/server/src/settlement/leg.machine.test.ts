import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveIn } from '@florin/protocol/machine.ts';
import { legMoves, legStatuses, legTriggers } from './leg.machine.ts';

/** Every pair of status and trigger that moves, written out; all others must be refused. */
const expected = new Map<string, string>([
  ['waiting transaction_recorded', 'sent'],
  ['waiting delayed', 'waiting'],
  ['sent delayed', 'waiting'],
  ['waiting concluded', 'done'],
  ['sent concluded', 'done'],
  ['done event_lost', 'waiting'],
  ['done event_lost_transaction_pending', 'sent'],
]);

test('every pair of leg status and trigger moves as written or is refused', () => {
  for (const status of legStatuses) {
    for (const trigger of legTriggers) {
      const move = moveIn(legMoves, status, trigger);
      const seen = move === undefined ? undefined : move.to;
      assert.equal(seen, expected.get(`${status} ${trigger}`), `${status} ${trigger}`);
    }
  }
  assert.equal(legMoves.length, expected.size);
});
