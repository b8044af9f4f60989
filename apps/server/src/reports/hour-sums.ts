import type { Database, Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { addHourChanges, lockHourSums } from './period-sums.sql.ts';

const intervalMs = 1_000;
/** Payments added in one transaction: some tens of milliseconds. */
const batchSize = 2_000;

/** Adds payments to the sums of their hours until the signal aborts. Sums of periods are exact even if this is late. */
export function runHourSums(
  deps: { readonly db: Database; readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  return runRounds({ ...deps, intervalMs, failure: 'reports.hours_failed' }, signal, () =>
    deps.db.transaction((transaction) => addUpHours(transaction, batchSize)),
  );
}

/** Adds up to `limit` payments. False when none are left, or another worker is active. */
export async function addUpHours(transaction: Transaction, limit: number): Promise<boolean> {
  const [lock] = await transaction.query(lockHourSums);
  if (lock?.is_mine !== true) return false;
  const [added] = await transaction.query(addHourChanges, { limit });
  return added !== undefined && added.taken >= limit;
}
