import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../context.ts';
import { type Pause, pauseBetween } from './pause.ts';

/** A clock that stops during a wait and then jumps to its end, unless a notification ends the wait. */
function jumpingClock(): Clock & { nowMs: number } {
  const clock = {
    nowMs: 0,
    now: () => new Date(clock.nowMs),
    monotonicMs: () => clock.nowMs,
    async sleep(ms: number, signal?: AbortSignal) {
      // Long waits are those for the next poll, which a notification ends.
      if (ms < 1_000) clock.nowMs += ms;
      else await new Promise((resolve) => signal?.addEventListener('abort', resolve));
    },
  };
  return clock;
}

async function roundTimes(
  count: number,
  gapMs: number,
  afterRound: (pause: Pause) => void = () => {},
): Promise<number[]> {
  const clock = jumpingClock();
  const wake = async () => {
    clock.nowMs += gapMs;
  };
  const { signal } = new AbortController();
  const pause = pauseBetween({ pollIntervalMs: 60_000, clock, signal, wake });
  const times: number[] = [];
  for (let round = 0; round < count; round += 1) {
    await pause.rest();
    times.push(clock.nowMs);
    afterRound(pause);
  }
  return times;
}

test('a new head starts a round at once', async () => {
  assert.deepEqual(await roundTimes(5, 100), [100, 200, 300, 400, 500]);
});

test('a node that announces heads without end starts one round per 20 ms after a burst of ten', async () => {
  const times = await roundTimes(14, 0);
  assert.deepEqual(times, [...Array.from({ length: 10 }, () => 0), 20, 40, 60, 80]);
});

test('rounds that find blocks follow one another as fast as blocks arrive', async () => {
  const times = await roundTimes(50, 1, (pause) => pause.noteNews());
  assert.deepEqual(
    times,
    Array.from({ length: 50 }, (_, round) => round + 1),
  );
});
