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

test('a pair of status and trigger has its row or none', () => {
  assert.equal(moveIn(table, 'held', 'close'), table[2]);
  assert.equal(moveIn(table, 'closed', 'close'), undefined);
});

test('a trigger is written for SQL with every status before it and the one behind it', () => {
  assert.deepEqual(sqlMove(table, 'close'), { from: "'open', 'held'", to: "'closed'" });
});

test('a trigger that leads to several statuses is not written for SQL', () => {
  assert.throws(() => sqlMove(table, 'turn'), RangeError);
});
