import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Secret } from './secret.ts';

const secret = new Secret('hunter2');

test('only reveal reads a secret', () => {
  assert.equal(secret.reveal(), 'hunter2');
});

test('serializing a secret throws in every form', () => {
  const attempts: readonly (() => string)[] = [
    () => JSON.stringify(secret),
    () => JSON.stringify({ deep: { settings: [secret] } }),
    () => `${secret}`,
    () => String(secret),
    () => inspect({ secret }),
  ];
  for (const attempt of attempts) assert.throws(attempt, /a secret cannot be serialized/);
});

test('copying the fields of a secret copies nothing', () => {
  assert.deepEqual({ ...secret }, {});
});
