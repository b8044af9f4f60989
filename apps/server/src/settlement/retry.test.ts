import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rereadDelayMs, retryDelayMs } from './retry.ts';

const seconds = (delayOf: (attempts: number) => number, attempts: readonly number[]) =>
  attempts.map((count) => delayOf(count) / 1_000);

test('delays double from five seconds to a quarter of an hour', () => {
  assert.deepEqual(seconds(retryDelayMs, [0, 1, 2, 7, 8, 100, 1e9]), [5, 10, 20, 640, 900, 900, 900]);
});

test('a blocked recipient costs gas at each attempt, so its delays grow to six hours', () => {
  const blocked = (attempts: number) => retryDelayMs(attempts, 'recipient_blocked');
  assert.deepEqual(seconds(blocked, [0, 8, 12, 13, 1e9]), [5, 1_280, 20_480, 21_600, 21_600]);
});

test('every other reason has the usual delays', () => {
  for (const reason of [
    'reverted',
    'not_mined',
    'vault_short',
    'token_paused',
    'token_not_served',
    'reorged',
  ] as const)
    assert.equal(retryDelayMs(20, reason), retryDelayMs(20));
});

test('blocks are read again with delays of up to six hours', () => {
  assert.deepEqual(seconds(rereadDelayMs, [0, 1, 12, 13, 1e9]), [5, 10, 20_480, 21_600, 21_600]);
});
