import type { Clock } from './context.ts';

/**
 * How much longer than a batch the pause after it is. So what a batch locks is free for others four fifths of the time, and on
 * a fast database thousands of events are removed in a second: as many as a large installation raises. A longest pause would
 * lock for longer the slower the database is.
 */
const restOfBatch = 4;

/** Pauses after a batch of work on old rows that began at this time of the clock. The signal ends the pause. */
export function restAfterBatch(clock: Clock, startedMs: number, signal: AbortSignal): Promise<void> {
  return clock.sleep(restOfBatch * (clock.monotonicMs() - startedMs), signal);
}
