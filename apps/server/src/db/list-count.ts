import type { Database, Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { addListChanges, lockListCounts } from './list-count.sql.ts';

/** Changes added in one transaction: some tens of milliseconds. */
const batchSize = 2_000;
const intervalMs = 1_000;

/**
 * Adds the changes of lists to their totals until the signal aborts, so that readers sum few changes. Totals are exact even if
 * this is late.
 */
export function runListCounts(
  deps: { readonly db: Database; readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  return runRounds({ ...deps, intervalMs, failure: 'lists.count_failed' }, signal, () =>
    deps.db.transaction((transaction) => addUpLists(transaction, batchSize)),
  );
}

/** Moves up to `limit` changes of lists into their totals. False when none are left, or another worker is active. */
export async function addUpLists(transaction: Transaction, limit: number): Promise<boolean> {
  const [lock] = await transaction.query(lockListCounts);
  if (lock?.is_mine !== true) return false;
  const [added] = await transaction.query(addListChanges, { limit });
  return added !== undefined && added.taken >= limit;
}
