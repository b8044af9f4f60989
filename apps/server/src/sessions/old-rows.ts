import type { Database } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';

/** Rows of each kind that one batch changes, some hundredths of a second of work. */
const batchSize = 500;
const intervalMs = 60_000;
/** Between two batches others come first: so a worker changes a thousand rows of a kind in a second at most. */
const pauseMs = 500;

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
  deps: Omit<OldRowContext<unknown>, 'policy'>,
  work: { readonly failure: string; readonly batch: (now: Date, limit: number) => Promise<number> },
  signal: AbortSignal,
): Promise<void> {
  return runRounds({ ...deps, intervalMs, failure: work.failure }, signal, async () => {
    if ((await work.batch(deps.clock.now(), batchSize)) < batchSize) return false;
    await deps.clock.sleep(pauseMs, signal);
    return true;
  });
}
