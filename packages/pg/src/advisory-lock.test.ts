import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lockRegistry } from './advisory-lock.ts';

test('a lock is a number, or a hash of its text', () => {
  const locks = lockRegistry({
    one: { key: 7, guards: 'one thing' },
    text: { key: 'whole text', guards: 'another thing' },
    order: { key: 'order ', guards: 'each order' },
  });
  assert.deepEqual(
    [
      locks.awaitLock('one'),
      locks.awaitShare('one'),
      locks.tryLock('text'),
      locks.awaitLockOf('order', '$1'),
      locks.tryLockOf('order', 'o.id'),
      locks.trySessionLock('one'),
    ],
    [
      'pg_advisory_xact_lock(7::int8)',
      'pg_advisory_xact_lock_shared(7::int8)',
      "pg_try_advisory_xact_lock(hashtextextended('whole text', 0))",
      "pg_advisory_xact_lock(hashtextextended('order ' || $1, 0))",
      "pg_try_advisory_xact_lock(hashtextextended('order ' || o.id, 0))",
      'pg_try_advisory_lock(7::int8)',
    ],
  );
});

test('no two locks have one key, nor can a text of one family belong to another', () => {
  const register = (...keys: (number | string)[]) =>
    lockRegistry(Object.fromEntries(keys.map((key, place) => [`lock${place}`, { key, guards: 'a thing' }])));
  assert.throws(() => register(1, 2, 1), /can be one/);
  assert.throws(() => register('gas ', 'gas of '), /can be one/);
  assert.throws(() => register('gas of ', 'gas '), /can be one/);
  assert.doesNotThrow(() => register(1, 2, 'gas of ', 'gas for '));
});
