import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Random } from './context.ts';
import { defaultRetrySettings, nextAttemptAt } from './retry.ts';

const endedAt = new Date('2026-03-04T05:06:07.000Z');
const hourMs = 3_600_000;

function fraction(value: number): Random {
  return { bytes: (size) => new Uint8Array(size), fraction: () => value };
}

function waitMs(attemptsMade: number, jitter: number, retryAfter?: string): number | undefined {
  const next = nextAttemptAt(defaultRetrySettings, fraction(jitter), { attemptsMade, endedAt, retryAfter });
  return next === undefined ? undefined : next.getTime() - endedAt.getTime();
}

// proves W6.11
test('ten attempts span 75.6 hours, then the schedule ends', () => {
  const waits = Array.from({ length: 11 }, (_, attemptsMade) => waitMs(attemptsMade, 0.5));
  const hours = [2, 5, 10, 14, 20, 24].map((count) => count * hourMs);
  assert.deepEqual(waits, [0, 5_000, 300_000, 1_800_000, ...hours, undefined]);
  const total = defaultRetrySettings.delaysMs.reduce((sum, delay) => sum + delay, 0);
  assert.equal((total / hourMs).toFixed(1), '75.6');
});

// proves W6.11
test('jitter keeps every wait within a tenth of the schedule', () => {
  const property = fc.property(
    fc.integer({ min: 0, max: 9 }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (made, share) => {
      const planned = defaultRetrySettings.delaysMs[made] ?? 0;
      const wait = waitMs(made, share) ?? -1;
      assert.equal(Math.abs(wait - planned) <= planned / 10 + 1, true);
    },
  );
  fc.assert(property);
  // The waits use the whole tenth, so that webhooks that failed together are not retried together.
  assert.deepEqual([waitMs(1, 0), waitMs(1, 1)], [4_500, 5_500]);
});

// proves W6.12
test('a longer Retry-After is respected up to 24 hours, a shorter or unreadable one changes nothing', () => {
  assert.equal(waitMs(1, 0.5, '120'), 120_000);
  assert.equal(waitMs(1, 0.5, 'Wed, 04 Mar 2026 06:06:07 GMT'), hourMs);
  assert.equal(waitMs(1, 0.5, '999999999'), 24 * hourMs);
  assert.equal(waitMs(1, 0.5, 'Wed, 04 Mar 2099 06:06:07 GMT'), 24 * hourMs);
  for (const shorter of ['0', '1', '-5', 'soon', '', '1e9', 'Wed, 04 Mar 2020 06:06:07 GMT']) {
    assert.equal(waitMs(1, 0.5, shorter), 5000);
  }
  assert.equal(waitMs(10, 0.5, '120'), undefined);
});
