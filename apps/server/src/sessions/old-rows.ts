import type { Database } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';

/** Rows of each kind that one batch changes, some hundredths of a second of work. */
const batchSize = 500;
const intervalMs = 60_000;
/**
 * How much longer than a batch the pause after it is: what a batch locks is free for others four fifths of the time. A longest
 * pause would lock for longer the slower the database is.
 */
const restOfBatch = 4;

/** What changes rows by their age needs. */
export interface OldRowContext<Policy> {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly policy: Policy;
}

/**
 * Changes old rows in batches until the signal aborts. A batch changes up to `limit` rows of each kind, and returns how many
 * in all.
 */
export function runOldRows(
  deps: Pick<OldRowContext<unknown>, 'clock' | 'log'>,
  work: { readonly failure: string; readonly batch: (now: Date, limit: number) => Promise<number> },
  signal: AbortSignal,
): Promise<void> {
  const { clock } = deps;
  return runRounds({ ...deps, intervalMs, failure: work.failure }, signal, async () => {
    const startedMs = clock.monotonicMs();
    if ((await work.batch(clock.now(), batchSize)) < batchSize) return false;
    await clock.sleep(restOfBatch * (clock.monotonicMs() - startedMs), signal);
    return true;
  });
}
