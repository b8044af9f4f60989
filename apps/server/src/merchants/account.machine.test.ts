import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveIn } from '@florin/protocol/machine.ts';
import { accountMoves, accountStatuses, accountTriggers } from './account.machine.ts';

test('a removed account never moves again, and only a removal ends one', () => {
  const moves = accountStatuses.flatMap((from) =>
    accountTriggers.map((trigger) => [from, trigger, moveIn(accountMoves, from, trigger)?.to]),
  );
  assert.deepEqual(moves, [
    ['normal', 'update', 'normal'],
    ['normal', 'change_address', 'normal'],
    ['normal', 'remove', 'removed'],
    ['removed', 'update', undefined],
    ['removed', 'change_address', undefined],
    ['removed', 'remove', undefined],
  ]);
});
