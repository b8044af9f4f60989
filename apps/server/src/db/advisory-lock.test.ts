import assert from 'node:assert/strict';
import { test } from 'node:test';
import { advisoryLocks } from './advisory-lock.ts';

test('no two locks have one key, nor can a text of one family belong to another', () => {
  const keys = Object.values(advisoryLocks).map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length);
  const texts = keys.filter((key) => typeof key === 'string');
  const mixed = texts.flatMap((text) =>
    texts.filter((other) => other !== text && other.startsWith(text)).map((other) => [text, other]),
  );
  assert.deepEqual(mixed, []);
});

test('every lock says what it guards', () => {
  const purposes = Object.values(advisoryLocks).map(({ guards }) => guards);
  assert.ok(purposes.every((purpose) => purpose.length > 10));
  assert.equal(new Set(purposes).size, purposes.length);
});
