import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveIn } from '@florin/protocol/machine.ts';
import { exceptionMoves, exceptionStatuses, exceptionTriggers } from './exception.machine.ts';

/** Every pair of status and trigger that moves, written out; all others must be refused. */
const expected = new Map<string, string>([
  ['open marked_resolved', 'resolved'],
  ['open money_placed', 'resolved'],
  ['resolved money_placed', 'resolved'],
  ['resolved return_lost', 'open'],
  ['open money_lost', 'resolved'],
  ['resolved money_lost', 'resolved'],
  ['resolved money_back', 'open'],
]);

test('every pair of exception status and trigger moves as written or is refused', () => {
  for (const status of exceptionStatuses) {
    for (const trigger of exceptionTriggers) {
      const move = moveIn(exceptionMoves, status, trigger);
      const seen = move === undefined ? undefined : move.to;
      assert.equal(seen, expected.get(`${status} ${trigger}`), `${status} ${trigger}`);
    }
  }
  assert.equal(exceptionMoves.length, expected.size);
});
