import type { Transaction } from '@florin/pg';
import { removeOldEvents } from './event-log.sql.ts';
import { oldestReadable } from './event-log.ts';
import { continueSweep } from './sweep.ts';
import { lockDeliveryLines } from './webhook.ts';
import type { OutboxWorker } from './worker.ts';

const sweepIntervalMs = 1_000;
/** Lists have to skip events that are too old one by one, so there must never be many. */
const removalIntervalMs = 60_000;
/** Events removed in one transaction, which deliveries wait for: some ten milliseconds. */
const batchSize = 200;
/** Batches in one go; the rest waits for the next. */
const maxBatches = 500;
const restBetweenBatchesMs = 200;

/** Finishes what enabling, replaying and removing webhooks left to be done, and removes old events, until the signal aborts. */
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
      const previous: bigint = last;
      last = await worker.db.transaction((transaction) => continueSweep(transaction, worker, previous));
    }
  }
}

async function removeOld({ db, clock }: OutboxWorker, signal: AbortSignal): Promise<void> {
  for (let batch = 0; batch < maxBatches && !signal.aborted; batch += 1) {
    const removed = await db.transaction((transaction) =>
      removeEventsBatch(transaction, clock.now(), batchSize),
    );
    if (removed < batchSize) break;
    await clock.sleep(restBetweenBatchesMs, signal);
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
 * Removes up to `limit` events that can no longer be read, with their deliveries, oldest first; never one that is still
 * to be delivered. Returns how many.
 */
export async function removeEventsBatch(transaction: Transaction, now: Date, limit: number): Promise<number> {
  await lockDeliveryLines(transaction);
  const [row] = await transaction.query(removeOldEvents, { createdBefore: oldestReadable(now), limit });
  return Number(row?.removed ?? 0n);
}
