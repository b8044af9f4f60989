import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isolated } from './isolated.ts';

test('a name is isolated only where it runs from right to left', () => {
  assert.deepEqual(['Tea', 'Thé ☕ 茶', 'متجر 5', 'Shop חנות'].map(isolated), [
    'Tea',
    'Thé ☕ 茶',
    '\u2068متجر 5\u2069',
    '\u2068Shop חנות\u2069',
  ]);
});
