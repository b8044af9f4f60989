import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveIn } from '@florin/protocol/machine.ts';
import { recoveryMoves, recoveryStatuses, recoveryTriggers } from './recovery.machine.ts';

test('only a recovery that waits is used, only an open one is cancelled, and nothing else ever moves', () => {
  const moves = recoveryStatuses.flatMap((from) =>
    recoveryTriggers.map((trigger) => [from, trigger, moveIn(recoveryMoves, from, trigger)?.to]),
  );
  assert.deepEqual(
    moves.filter(([, , to]) => to !== undefined),
    [
      ['asked', 'cancel', 'cancelled'],
      ['waiting', 'complete', 'used'],
      ['waiting', 'cancel', 'cancelled'],
    ],
  );
});
