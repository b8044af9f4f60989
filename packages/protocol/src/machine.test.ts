import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Move, moveIn, sqlMove } from './machine.ts';

const table: readonly Move<'open' | 'held' | 'closed', 'hold' | 'close' | 'turn'>[] = [
  { from: 'open', trigger: 'hold', to: 'held' },
  { from: 'open', trigger: 'close', to: 'closed' },
  { from: 'held', trigger: 'close', to: 'closed' },
  { from: 'open', trigger: 'turn', to: 'held' },
  { from: 'held', trigger: 'turn', to: 'open' },
];

test('a pair of status and trigger has one row or none', () => {
  assert.equal(moveIn(table, 'held', 'close'), table[2]);
  assert.equal(moveIn(table, 'closed', 'close'), undefined);
});

test('a trigger in SQL has every status before it and the one after it', () => {
  assert.deepEqual(sqlMove(table, 'close'), { from: "'open', 'held'", to: "'closed'" });
});

test('a trigger with several target statuses is not written for SQL', () => {
  assert.throws(() => sqlMove(table, 'turn'), RangeError);
});
