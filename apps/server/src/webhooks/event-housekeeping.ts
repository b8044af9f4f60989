import type { Database, Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { removeOldEvents } from './event-log.sql.ts';
import { oldestReadable } from './event-log.ts';
import { lockDeliveryLines } from './webhook.ts';

/** Events removed in one transaction, which deliveries wait for: some ten milliseconds. */
const batchSize = 200;
/** Batches in one go; what is left over waits for the next. */
const maxBatches = 500;
const restBetweenBatchesMs = 200;
/** Lists pass by what is too old, one by one: it must not become much. */
const intervalMs = 60_000;

/** Removes old events until the signal aborts: looks once a minute, and takes breaks while there is much to do. */
export function runEventHousekeeping(
  deps: { readonly db: Database; readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, log } = deps;
  return runRounds({ clock, log, intervalMs, failure: 'webhooks.housekeeping_failed' }, signal, async () => {
    for (let batch = 0; batch < maxBatches && !signal.aborted; batch += 1) {
      const removed = await db.transaction((transaction) =>
        removeEventsBatch(transaction, clock.now(), batchSize),
      );
      if (removed < batchSize) break;
      await clock.sleep(restBetweenBatchesMs, signal);
    }
    return false;
  });
}

/**
 * Removes up to `limit` events that can no longer be read, with their deliveries, oldest first; never one that is still
 * to be delivered. Returns how many.
 */
export async function removeEventsBatch(transaction: Transaction, now: Date, limit: number): Promise<number> {
  await lockDeliveryLines(transaction);
  const [row] = await transaction.query(removeOldEvents, [oldestReadable(now), limit]);
  return Number(row?.removed ?? 0n);
}
