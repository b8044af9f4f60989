import type { Queryable, Transaction } from '@florin/pg';
import type { OutboxContext } from './context.ts';
import { type DeliveryStatus, statusesBefore } from './delivery.machine.ts';
import { findEvent, oldestReadable } from './event-log.ts';
import * as sql from './resend.sql.ts';
import { ordinalBeforeTime } from './sweep.ts';
import { findWebhook, lockQueuesOf } from './webhook.ts';

/** Deliveries that one call sends again. */
export const maxResent = 500;

/** Which deliveries to send again: those of an event, to all its webhooks or one, or those of a webhook since a time. */
export type ResendRequest = {
  readonly ownerId: string;
  /**
   * Only these statuses; `pending` are those that wait for the time of their next attempt. Default: with an event all, without
   * one all but succeeded ones.
   */
  readonly statuses?: readonly DeliveryStatus[] | undefined;
  /** `last` of an earlier call, to continue after it. */
  readonly after?: string | undefined;
} & (
  | { readonly eventId: string; readonly webhookId?: string | undefined }
  | {
      readonly webhookId: string;
      readonly eventId?: undefined;
      /** Deliveries of events from `since` on, before `until`. */
      readonly since: Date;
      readonly until?: Date | undefined;
    }
);

/** The end of the year 9999: later than every event. */
const endOfTime = new Date(Date.UTC(10_000, 0, 1) - 1000);

/** The result of one call. */
export interface Resent {
  readonly resent: number;
  readonly hasMore: boolean;
  /** Empty when nothing was found. */
  readonly last: string;
}

/**
 * Sends finished deliveries again, and those that wait for the time of their next attempt at once: oldest first, 500 at most.
 * Other pending ones stay as they are. Refuses an unknown webhook, event
 * or `after`.
 */
export async function resendDeliveries(
  transaction: Transaction,
  context: OutboxContext,
  request: ResendRequest,
): Promise<Resent> {
  const found = await candidatesOf(transaction, context, request);
  const chosen = found.slice(0, maxResent).map((row) => row.delivery_id);
  const hasMore = found.length > maxResent;
  const last = chosen.at(-1) ?? '';
  if (chosen.length === 0) return { resent: 0, hasMore, last };
  // The lock comes after the search, so that the engine does not wait for it.
  await lockQueuesOf(transaction, request.ownerId);
  const [row] = await transaction.query(sql.restartDeliveries, {
    deliveryIds: chosen,
    nextAttemptAt: context.clock.now(),
    statuses: statusesBefore('resend'),
  });
  return { resent: Number(row?.restarted ?? 0n), hasMore, last };
}

/**
 * Sends a finished delivery again, or at once while it waits for the time of its next attempt: with a new schedule and the same
 * webhook-id. Another pending one stays as it is. If the webhook is not active, it waits. Refuses an unknown delivery, or one whose event has expired (delivery_not_found).
 */
export async function resendDelivery(
  transaction: Transaction,
  context: OutboxContext,
  request: { readonly ownerId: string; readonly deliveryId: string },
): Promise<void> {
  const now = context.clock.now();
  const { ownerId, deliveryId } = request;
  await lockQueuesOf(transaction, ownerId);
  const rows = await transaction.query(sql.lockDelivery, {
    merchantId: ownerId,
    deliveryId,
    createdAfter: oldestReadable(now),
  });
  if (rows.length === 0) throw context.refusal('delivery_not_found', deliveryId);
  await transaction.query(sql.restartDeliveries, {
    deliveryIds: [deliveryId],
    nextAttemptAt: now,
    statuses: statusesBefore('resend'),
  });
}

async function candidatesOf(queryable: Queryable, context: OutboxContext, request: ResendRequest) {
  const { ownerId, webhookId, after } = request;
  if (webhookId !== undefined) await findWebhook(queryable, context, { ownerId, webhookId });
  const behind = after === undefined ? 0n : await ordinalOf(queryable, context, { ownerId, after });
  const now = context.clock.now();
  const oldest = oldestReadable(now);
  if (request.eventId !== undefined) {
    const { eventId } = request;
    await findEvent(queryable, context, { ownerId, eventId });
    const statuses = request.statuses ?? statusesBefore('resend');
    return queryable.query(sql.deliveriesOfEvent, {
      merchantId: ownerId,
      eventsSince: oldest,
      now,
      statuses,
      eventId,
      webhookId: webhookId ?? '',
      afterOrdinal: behind,
      limit: maxResent + 1,
    });
  }
  const before = await ordinalBeforeTime(queryable, request.webhookId, request.since);
  return queryable.query(sql.deliveriesOfTime, {
    merchantId: ownerId,
    eventsSince: oldest,
    now,
    statuses: request.statuses ?? [...statusesBefore('replay'), 'pending'],
    webhookId: request.webhookId,
    since: request.since,
    until: request.until ?? endOfTime,
    afterOrdinal: behind > before ? behind : before,
    limit: maxResent + 1,
  });
}

async function ordinalOf(
  queryable: Queryable,
  context: OutboxContext,
  { ownerId, after }: { readonly ownerId: string; readonly after: string },
): Promise<bigint> {
  const [row] = await queryable.query(sql.deliveryOrdinal, { merchantId: ownerId, deliveryId: after });
  if (row === undefined) throw context.refusal('delivery_not_found', after, 'after');
  return row.ordinal;
}
