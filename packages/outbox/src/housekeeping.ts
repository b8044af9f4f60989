import { isLockTimeout, type Transaction } from '@florin/pg';
import { removeOldEvents } from './event-log.sql.ts';
import { oldestReadable } from './event-log.ts';
import { nextSweep } from './sweep.sql.ts';
import { stepSweep } from './sweep.ts';
import type { OutboxWorker } from './worker.ts';

const sweepIntervalMs = 1_000;
/** Lists skip expired events one by one, so there must be few. */
const removalIntervalMs = 10_000;
/** Events removed in one transaction. */
const batchSize = 500;
/** Batches in one round. */
const maxBatches = 5_000;
/**
 * No removal locks the queues of deliveries: until an event has been unreadable for this long, nothing that could still send it
 * again goes on. Requests and steps of sweeps end within minutes, and clocks of processes differ by less.
 */
const marginMs = 3_600_000;

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
    // Another worker may have taken a part of the batch.
    if (removed === 0) break;
    // As long as the batch, so that a backlog takes half of one connection.
    await clock.sleep(clock.monotonicMs() - startedMs, signal);
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
 * Removes up to `limit` events that expired an hour ago or earlier, with their deliveries, oldest first. Events with pending
 * deliveries stay, and those that another worker is removing are left to it. Returns the number of removed events.
 */
export async function removeEventsBatch(transaction: Transaction, now: Date, limit: number): Promise<number> {
  const createdBefore = new Date(oldestReadable(now).getTime() - marginMs);
  const [row] = await transaction.query(removeOldEvents, { createdBefore, limit });
  return Number(row?.removed ?? 0n);
}
