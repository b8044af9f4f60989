import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveIn } from '@florin/protocol/machine.ts';
import {
  accountChangeMoves,
  accountChangeStatuses,
  accountChangeTriggers,
} from './account-change.machine.ts';

test('a wallet that waits takes effect, is cancelled or refused, and nothing else ever moves', () => {
  const moves = accountChangeStatuses.flatMap((from) =>
    accountChangeTriggers.map((trigger) => [from, trigger, moveIn(accountChangeMoves, from, trigger)?.to]),
  );
  assert.deepEqual(
    moves.filter(([, , to]) => to !== undefined),
    [
      ['waiting', 'take_effect', 'done'],
      ['waiting', 'cancel', 'cancelled'],
      ['waiting', 'refuse', 'refused'],
    ],
  );
});
