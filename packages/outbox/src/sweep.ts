import type { Queryable, Row, Transaction } from '@florin/pg';
import type { OutboxContext } from './context.ts';
import { statusesBefore } from './delivery.machine.ts';
import { oldestReadable } from './event-log.ts';
import * as sql from './sweep.sql.ts';
import { limitLockWait, lockDeliveriesOfOwner } from './webhook.sql.ts';

/** A change of all deliveries of one webhook, which may be many. */
export type Sweep =
  /** Resumes the deliveries that were paused while the webhook was not active. */
  | { readonly kind: 'free' }
  /** Sends skipped and failed deliveries since a time again. */
  | { readonly kind: 'replay'; readonly since: Date }
  /** Skips pending deliveries, because the webhook was removed. */
  | { readonly kind: 'drop' };

interface Place {
  readonly object: string;
  readonly number: bigint;
}

/** In concurrent transactions the order of ordinals and of times may differ, by minutes at most. */
const maxDisorderMs = 600_000;
/** How long a step waits for its owner's queues. A turn holds them for some ten milliseconds. */
const lockLimit = '1s';

/**
 * Begins a sweep: makes its first step of up to a thousand deliveries, and leaves the others to `runHousekeeping`. The caller
 * holds the lock of the delivery queues and that of the webhook's row.
 */
export async function beginSweep(
  transaction: Transaction,
  context: OutboxContext,
  target: { readonly ownerId: string; readonly webhookId: string; readonly sweep: Sweep },
): Promise<void> {
  const { ownerId, webhookId, sweep } = target;
  // A new `free` replaces an older one. `drop` ends all others.
  await transaction.query(sql.deleteSweeps, {
    webhookId,
    kinds: sweep.kind === 'drop' ? ['free', 'replay'] : [sweep.kind === 'free' ? 'free' : ''],
  });
  const start = await startOf(transaction, webhookId, sweep);
  const rest = await step(transaction, context, { webhookId, sweep, place: start });
  if (rest === undefined) return;
  await transaction.query(sql.insertSweep, {
    merchantId: ownerId,
    webhookId,
    kind: sweep.kind,
    replaySince: sweep.kind === 'replay' ? sweep.since : null,
    afterObject: rest.object,
    afterNumber: rest.number,
  });
}

/** Makes a step of a sweep, under the lock of its owner's delivery queues, for which it waits a second. */
export async function stepSweep(
  transaction: Transaction,
  context: OutboxContext,
  { sweepId, ownerId }: { readonly sweepId: bigint; readonly ownerId: string },
): Promise<void> {
  await transaction.query(limitLockWait, { limit: lockLimit });
  await transaction.query(lockDeliveriesOfOwner, { merchantId: ownerId });
  // Under the lock, because another process may have continued or ended it meanwhile.
  const [row] = await transaction.query(sql.selectSweep, { sweepId });
  if (row === undefined) return;
  const rest = isWanted(row)
    ? await step(transaction, context, {
        webhookId: row.webhook_id,
        sweep: sweepOf(row),
        place: { object: row.after_object, number: row.after_number },
      })
    : undefined;
  await (rest === undefined
    ? transaction.query(sql.deleteSweep, { sweepId })
    : transaction.query(sql.advanceSweep, { sweepId, afterObject: rest.object, afterNumber: rest.number }));
}

/** Deliveries of a webhook that was disabled again stay paused. */
function isWanted({ kind, webhook_status }: Row<typeof sql.selectSweep>): boolean {
  return kind !== 'free' || webhook_status === 'active';
}

function sweepOf({ kind, replay_since }: Row<typeof sql.selectSweep>): Sweep {
  if (kind === 'free' || kind === 'drop') return { kind };
  if (kind === 'replay' && replay_since !== null) return { kind, since: replay_since };
  throw new Error(`unknown sweep: ${kind}`);
}

async function startOf(queryable: Queryable, webhookId: string, sweep: Sweep): Promise<Place> {
  if (sweep.kind !== 'replay') return { object: '', number: 0n };
  return { object: '', number: await ordinalBeforeTime(queryable, webhookId, sweep.since) };
}

/** An ordinal slightly below those of all deliveries of a webhook since a time. */
export async function ordinalBeforeTime(
  queryable: Queryable,
  webhookId: string,
  since: Date,
): Promise<bigint> {
  const early = new Date(since.getTime() - maxDisorderMs);
  const [row] = await queryable.query(sql.ordinalBefore, { webhookId, time: early });
  return row?.ordinal ?? 0n;
}

/** Returns where the next step continues; undefined when the sweep is finished. */
async function step(
  transaction: Transaction,
  { clock }: OutboxContext,
  options: { readonly webhookId: string; readonly sweep: Sweep; readonly place: Place },
): Promise<Place | undefined> {
  const { webhookId, sweep, place } = options;
  const [row] = await runStep();
  if (row === undefined || row.seen < sql.sweepStep) return undefined;
  if (row.last_object === null || row.last_number === null)
    throw new Error('a full step has no last delivery');
  return { object: row.last_object, number: row.last_number };

  function runStep() {
    const nextAttemptAt = clock.now();
    const after = { webhookId, afterObject: place.object, afterSequence: place.number };
    if (sweep.kind === 'free') return transaction.query(sql.freeStep, { ...after, nextAttemptAt });
    if (sweep.kind === 'drop') return transaction.query(sql.dropStep, after);
    return transaction.query(sql.replayStep, {
      webhookId,
      afterOrdinal: place.number,
      // Events expire while a long replay goes on, and their removal locks no queue.
      since: new Date(Math.max(sweep.since.getTime(), oldestReadable(nextAttemptAt).getTime())),
      nextAttemptAt,
      statuses: statusesBefore('replay'),
    });
  }
}
