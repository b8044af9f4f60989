import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, Log } from '../src/context.ts';

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

export const silentLog: Log = { info: () => {}, warn: () => {}, error: () => {} };
