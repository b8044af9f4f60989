import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { Secret } from './secret.ts';

const secret = new Secret('hunter2');

test('a secret is read only by revealing it', () => {
  assert.equal(secret.reveal(), 'hunter2');
});

test('writing a secret out throws, however it is tried', () => {
  const attempts: readonly (() => string)[] = [
    () => JSON.stringify(secret),
    () => JSON.stringify({ deep: { settings: [secret] } }),
    () => `${secret}`,
    () => String(secret),
    () => inspect({ secret }),
  ];
  for (const attempt of attempts) assert.throws(attempt, /a secret was about to be written out/);
});

test('copying the fields of a secret copies nothing', () => {
  assert.deepEqual({ ...secret }, {});
});
