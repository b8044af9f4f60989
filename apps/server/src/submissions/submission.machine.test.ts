import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveIn } from '@florin/protocol/machine.ts';
import { submissionMoves, submissionStatuses, submissionTriggers } from './submission.machine.ts';

test('a submission ends once, only a success is taken back, only a failure is repeated, and nothing else ever moves', () => {
  const moves = submissionStatuses.flatMap((from) =>
    submissionTriggers.map((trigger) => [from, trigger, moveIn(submissionMoves, from, trigger)?.to]),
  );
  assert.deepEqual(
    moves.filter(([, , to]) => to !== undefined),
    [
      ['sent', 'transaction_succeeded', 'succeeded'],
      ['sent', 'transaction_failed', 'failed'],
      ['sent', 'wallet_dropped', 'failed'],
      ['succeeded', 'outcome_taken_back', 'sent'],
      ['failed', 'repeated', 'sent'],
    ],
  );
});
