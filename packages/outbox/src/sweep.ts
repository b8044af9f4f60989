import type { Queryable, Row, Transaction } from '@florin/pg';
import type { OutboxContext } from './context.ts';
import { statusesBefore } from './delivery.machine.ts';
import * as sql from './sweep.sql.ts';
import { lockDeliveries } from './webhook.sql.ts';

/** What is to be done with the deliveries of one webhook, however many there are. */
export type Sweep =
  /** What was parked while the webhook was off goes on. */
  | { readonly kind: 'free' }
  /** What was skipped or failed since a time goes again. */
  | { readonly kind: 'replay'; readonly since: Date }
  /** What is pending is skipped, because the webhook was removed. */
  | { readonly kind: 'drop' };

interface Place {
  readonly object: string;
  readonly number: bigint;
}

/** Transactions that ran side by side may have taken ordinals and times in different orders, by minutes at most. */
const disorderMs = 600_000;

/**
 * Begins a sweep: does its first step, which is all of it for a thousand deliveries, and notes what is left for
 * `runHousekeeping`. The caller holds the lines' lock and the webhook's row.
 */
export async function beginSweep(
  transaction: Transaction,
  context: OutboxContext,
  target: { readonly ownerId: string; readonly webhookId: string; readonly sweep: Sweep },
): Promise<void> {
  const { ownerId, webhookId, sweep } = target;
  // What was left to be freed is freed by this one, or is not to be freed any more.
  await transaction.query(sql.deleteSweeps, {
    webhookId,
    kinds: sweep.kind === 'drop' ? ['free', 'replay'] : [sweep.kind === 'free' ? 'free' : ''],
  });
  const start = await startOf(transaction, webhookId, sweep);
  const rest = await step(transaction, context, { webhookId, sweep, place: start });
  if (rest === undefined) return;
  const since = sweep.kind === 'replay' ? sweep.since : null;
  await transaction.query(sql.insertSweep, {
    merchantId: ownerId,
    webhookId,
    kind: sweep.kind,
    replaySince: since,
    afterObject: rest.object,
    afterNumber: rest.number,
  });
}

/** Does a step of the sweep that comes after the one given. Returns its id; undefined when there is none. */
export async function continueSweep(
  transaction: Transaction,
  context: OutboxContext,
  previous: bigint,
): Promise<bigint | undefined> {
  await transaction.query(lockDeliveries);
  const [row] = await transaction.query(sql.nextSweep, { afterSweep: previous });
  if (row === undefined) return undefined;
  const rest = isWanted(row)
    ? await step(transaction, context, {
        webhookId: row.webhook_id,
        sweep: sweepOf(row),
        place: { object: row.after_object, number: row.after_number },
      })
    : undefined;
  await (rest === undefined
    ? transaction.query(sql.deleteSweep, { sweepId: row.sweep_id })
    : transaction.query(sql.advanceSweep, {
        sweepId: row.sweep_id,
        afterObject: rest.object,
        afterNumber: rest.number,
      }));
  return row.sweep_id;
}

/** A webhook that was disabled again keeps its deliveries where they are. */
function isWanted({ kind, webhook_status }: Row<typeof sql.nextSweep>): boolean {
  return kind !== 'free' || webhook_status === 'active';
}

function sweepOf({ kind, replay_since }: Row<typeof sql.nextSweep>): Sweep {
  if (kind === 'free' || kind === 'drop') return { kind };
  if (kind === 'replay' && replay_since !== null) return { kind, since: replay_since };
  throw new Error(`unknown sweep: ${kind}`);
}

async function startOf(queryable: Queryable, webhookId: string, sweep: Sweep): Promise<Place> {
  if (sweep.kind !== 'replay') return { object: '', number: 0n };
  return { object: '', number: await ordinalBeforeTime(queryable, webhookId, sweep.since) };
}

/** An ordinal below those of all deliveries of a webhook that were raised at a time or later, and not far below. */
export async function ordinalBeforeTime(
  queryable: Queryable,
  webhookId: string,
  since: Date,
): Promise<bigint> {
  const early = new Date(since.getTime() - disorderMs);
  const [row] = await queryable.query(sql.ordinalBefore, { webhookId, time: early });
  return row?.ordinal ?? 0n;
}

/** Returns where the next step goes on; undefined when there is nothing left. */
async function step(
  transaction: Transaction,
  { clock }: OutboxContext,
  options: { readonly webhookId: string; readonly sweep: Sweep; readonly place: Place },
): Promise<Place | undefined> {
  const { webhookId, sweep, place } = options;
  const [row] = await runStep();
  if (row === undefined || row.seen < sql.sweepStep) return undefined;
  if (row.last_object === null || row.last_number === null) throw new Error('a step saw deliveries and none');
  return { object: row.last_object, number: row.last_number };

  function runStep() {
    const now = clock.now();
    if (sweep.kind === 'free') {
      return transaction.query(sql.freeStep, {
        webhookId,
        afterObject: place.object,
        afterSequence: place.number,
        nextAttemptAt: now,
      });
    }
    if (sweep.kind === 'drop')
      return transaction.query(sql.dropStep, {
        webhookId,
        afterObject: place.object,
        afterSequence: place.number,
      });
    const replayed = statusesBefore('replay');
    return transaction.query(sql.replayStep, {
      webhookId,
      afterOrdinal: place.number,
      since: sweep.since,
      nextAttemptAt: now,
      statuses: replayed,
    });
  }
}
