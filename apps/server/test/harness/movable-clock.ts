import type { Clock } from '#outside/clock.ts';

/** A clock that tests move by setting `time`. Sleeps end at once. */
export interface MovableClock extends Clock {
  /** Unix time in milliseconds. */
  time: number;
}

export function movableClock(time = Date.UTC(2030, 0, 1)): MovableClock {
  const clock: MovableClock = {
    time,
    now: () => new Date(clock.time),
    monotonicMs: () => clock.time,
    sleep: async () => {},
  };
  return clock;
}
