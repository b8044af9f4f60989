import { setTimeout as delay } from 'node:timers/promises';

/** Time as a parameter: production passes the system clock, the simulator a virtual one. */
export interface Clock {
  /** Wall-clock time. */
  now(): Date;
  /** Milliseconds that never jump; only differences have a meaning. */
  monotonicMs(): number;
  /** Waits; ends early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  },
};

/** A clock whose times are so many milliseconds after another's, as in a local world whose time was moved. */
export function clockAhead(clock: Clock, aheadMs: () => number): Clock {
  return { ...clock, now: () => new Date(clock.now().getTime() + aheadMs()) };
}

/** A time in whole Unix seconds. */
export function unixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/** The time that is so many days before another one. */
export function daysBefore(time: Date, days: number): Date {
  return new Date(time.getTime() - days * 86_400_000);
}
