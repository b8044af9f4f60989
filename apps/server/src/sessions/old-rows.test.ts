import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#outside/clock.ts';
import { silentLog } from '#telemetry/log.ts';
import { runOldRows } from './old-rows.ts';

test('a pause is four times as long as its batch, also on a slow database', async () => {
  const [workMs, pauses]: [number[], number[]] = [[10, 3_000, 20], []];
  const ending = new AbortController();
  let nowMs = 0;
  const clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    async sleep(ms: number) {
      pauses.push(ms);
      // The pause after the last batch, which had fewer rows than it may change.
      if (pauses.length === 3) ending.abort();
    },
  };
  const batch = async (_now: Date, limit: number) => {
    nowMs += workMs.shift() ?? 0;
    return workMs.length === 0 ? limit - 1 : limit;
  };
  await runOldRows({ clock, log: silentLog }, { failure: 'test_failed', batch }, ending.signal);
  assert.deepEqual(pauses, [40, 12_000, 60_000]);
});
