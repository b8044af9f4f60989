import { isLockTimeout, type Transaction } from '@florin/pg';
import { oldEvent, removeOldEvents } from './event-log.sql.ts';
import { oldestReadable } from './event-log.ts';
import { restAfterBatch } from './rest.ts';
import { nextSweep } from './sweep.sql.ts';
import { stepSweep } from './sweep.ts';
import { limitLockWait } from './webhook.sql.ts';
import { lockDeliveryQueues } from './webhook.ts';
import type { OutboxWorker } from './worker.ts';

const sweepIntervalMs = 1_000;
/** Lists skip expired events one by one, so there must be few. */
const removalIntervalMs = 10_000;
/** Events removed in one transaction. Deliveries wait for it, some ten milliseconds. */
const batchSize = 200;
/** Batches in one round. */
const maxBatches = 5_000;
/** A removal waits for turns no longer than this, because turns and calls of all owners wait behind it. */
const lockLimit = '100ms';

/** Continues the sweeps that enabling, replaying and removing webhooks began, and removes old events, until the signal aborts. */
export async function runHousekeeping(worker: OutboxWorker, signal: AbortSignal): Promise<void> {
  await Promise.all([
    repeat(worker, { intervalMs: sweepIntervalMs, failure: 'webhooks.sweep_failed', signal }, continueSweeps),
    repeat(worker, { intervalMs: removalIntervalMs, failure: 'webhooks.housekeeping_failed', signal }, () =>
      removeOld(worker, signal),
    ),
  ]);

  /** One step of each sweep in turn. */
  async function continueSweeps(): Promise<void> {
    for (let last: bigint | undefined = 0n; last !== undefined && !signal.aborted; ) {
      last = await continueSweep(worker, last);
    }
  }
}

/**
 * Makes a step of the next sweep after the given one. Returns its id; undefined when there is none. A sweep whose owner's
 * queues stay locked is left for another time, so that those of other owners go on.
 */
export async function continueSweep(worker: OutboxWorker, previous: bigint): Promise<bigint | undefined> {
  const [next] = await worker.db.query(nextSweep, { afterSweep: previous });
  if (next === undefined) return undefined;
  const { sweep_id: sweepId, merchant_id: ownerId } = next;
  try {
    await worker.db.transaction((transaction) => stepSweep(transaction, worker, { sweepId, ownerId }));
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    worker.log.error('webhooks.sweep_failed', error);
  }
  return sweepId;
}

async function removeOld({ db, clock }: OutboxWorker, signal: AbortSignal): Promise<void> {
  for (let batch = 0; batch < maxBatches && !signal.aborted; batch += 1) {
    const startedMs = clock.monotonicMs();
    const removed = await db.transaction((transaction) =>
      removeEventsBatch(transaction, clock.now(), batchSize),
    );
    if (removed < batchSize) break;
    await restAfterBatch(clock, startedMs, signal);
  }
}

async function repeat(
  { clock, log }: OutboxWorker,
  options: { readonly intervalMs: number; readonly failure: string; readonly signal: AbortSignal },
  round: () => Promise<void>,
): Promise<void> {
  while (!options.signal.aborted) {
    try {
      await round();
    } catch (error) {
      log.error(options.failure, error);
    }
    await clock.sleep(options.intervalMs, options.signal);
  }
}

/**
 * Removes up to `limit` expired events with their deliveries, oldest first. Events with pending deliveries stay. Returns the
 * number of removed events. Fails when a turn goes on for too long; then the next round removes them.
 */
export async function removeEventsBatch(transaction: Transaction, now: Date, limit: number): Promise<number> {
  const createdBefore = oldestReadable(now);
  // Usually there is none, and no lock is needed.
  if ((await transaction.query(oldEvent, { createdBefore })).length === 0) return 0;
  await transaction.query(limitLockWait, { limit: lockLimit });
  await lockDeliveryQueues(transaction);
  const [row] = await transaction.query(removeOldEvents, { createdBefore, limit });
  return Number(row?.removed ?? 0n);
}
