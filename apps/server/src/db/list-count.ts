import type { Database, Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { addListChanges, lockListCounts, removeEmptySegments } from './list-count.sql.ts';

/** Changes added up in one transaction: some tens of milliseconds. */
const batchSize = 2_000;
const intervalMs = 1_000;

/**
 * Adds up what lists have gained and lost until the signal aborts, so that counts stay few and near. Lists are exact
 * however long that takes.
 */
export function runListCounts(
  deps: { readonly db: Database; readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, log } = deps;
  return runRounds({ clock, log, intervalMs, failure: 'lists.count_failed' }, signal, async () => {
    let from: string | undefined = '';
    while (from !== undefined && !signal.aborted) {
      const start: string = from;
      from = await db.transaction((transaction) => addUpLists(transaction, start, batchSize));
    }
    return false;
  });
}

/**
 * Moves up to `limit` changes of lists into their counts, of merchants from `from` on. Returns the merchant where the
 * next batch goes on; undefined when there is no more to be done, or another worker is at it.
 */
export async function addUpLists(
  transaction: Transaction,
  from: string,
  limit: number,
): Promise<string | undefined> {
  const [lock] = await transaction.query(lockListCounts);
  if (lock?.is_mine !== true) return undefined;
  const [added] = await transaction.query(addListChanges, [from, limit]);
  if (added === undefined) return undefined;
  if (added.starts.length > 0) {
    const { merchant_ids, lists, facets, starts } = added;
    await transaction.query(removeEmptySegments, [merchant_ids, lists, facets, starts]);
  }
  return added.taken < limit ? undefined : (added.last_merchant ?? undefined);
}
