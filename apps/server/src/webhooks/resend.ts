import type { Queryable, Transaction } from '@florin/pg';
import { maxResent, type ResendStatus } from '@florin/protocol/delivery-api.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { latestSeconds } from '@florin/protocol/webhook.ts';
import type { Clock } from '#outside/clock.ts';
import { statusesBefore } from './delivery.machine.ts';
import { eventText, oldestReadable } from './event-log.ts';
import * as sql from './resend.sql.ts';
import { ordinalBeforeTime } from './sweep.ts';
import { assertWebhook, lockDeliveryLines } from './webhook.ts';

/** Which deliveries to send again: those of an event, or those of a webhook since a time. */
export interface ResendRequest {
  readonly merchantId: string;
  readonly webhookId?: string | undefined;
  readonly eventId?: string | undefined;
  /** Unix seconds; deliveries from `since` on, before `until`. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly statuses?: readonly ResendStatus[] | undefined;
  /** The last delivery that an earlier call has looked at. */
  readonly after?: string | undefined;
}

/** How far one call came. */
export interface Resent {
  readonly resent: number;
  readonly hasMore: boolean;
  /** Empty when nothing was found. */
  readonly last: string;
}

/**
 * Sends finished deliveries again, oldest first, 500 at most; those still being tried are left as they are. Refuses an
 * unknown webhook (100501), event (100506) or `after` (100505), and a request that names neither an event nor a webhook
 * with a time (400101).
 */
export async function resendDeliveries(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  request: ResendRequest,
): Promise<Resent> {
  const found = await candidatesOf(transaction, deps, request);
  const chosen = found.slice(0, maxResent).map((row) => row.delivery_id);
  const hasMore = found.length > maxResent;
  const last = chosen.at(-1) ?? '';
  if (chosen.length === 0) return { resent: 0, hasMore, last };
  // Only now: whoever looks for long must not keep the engine waiting.
  await lockDeliveryLines(transaction);
  const [row] = await transaction.query(sql.restartDeliveries, [
    chosen,
    deps.clock.now(),
    statusesBefore('resend'),
  ]);
  return { resent: Number(row?.restarted ?? 0n), hasMore, last };
}

/**
 * Sends a finished delivery again, on a fresh schedule and with the same webhook-id; one that is still being tried is
 * left as it is. While the webhook is not active it waits for it. Unknown, or its event is too old: 100505.
 */
export async function resendDelivery(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  request: { readonly merchantId: string; readonly deliveryId: string },
): Promise<void> {
  const now = deps.clock.now();
  const { merchantId, deliveryId } = request;
  await lockDeliveryLines(transaction);
  const rows = await transaction.query(sql.lockDelivery, [merchantId, deliveryId, oldestReadable(now)]);
  if (rows.length === 0) throw new Refusal('delivery_not_found', deliveryId);
  await transaction.query(sql.restartDeliveries, [[deliveryId], now, statusesBefore('resend')]);
}

async function candidatesOf(queryable: Queryable, deps: { readonly clock: Clock }, request: ResendRequest) {
  const { merchantId, webhookId, eventId, since, until, after } = request;
  if (webhookId !== undefined) await assertWebhook(queryable, { merchantId, webhookId });
  const behind = after === undefined ? 0n : await ordinalOf(queryable, merchantId, after);
  const oldest = oldestReadable(deps.clock.now());
  if (eventId !== undefined) {
    if (since !== undefined || until !== undefined) throw fieldRefusal('since', 'does not go with eventId');
    await eventText(queryable, deps, { merchantId, eventId });
    const statuses = request.statuses ?? statusesBefore('resend');
    const narrowed = [eventId, webhookId ?? '', behind, maxResent + 1];
    return queryable.query(sql.deliveriesOfEvent, [merchantId, oldest, statuses, ...narrowed]);
  }
  if (webhookId === undefined) throw fieldRefusal('webhookId', 'is missing: give it, or eventId');
  if (since === undefined) throw fieldRefusal('since', 'is missing');
  const sinceTime = new Date(since * 1000);
  const before = await ordinalBeforeTime(queryable, webhookId, sinceTime);
  return queryable.query(sql.deliveriesOfTime, [
    merchantId,
    oldest,
    request.statuses ?? statusesBefore('replay'),
    webhookId,
    sinceTime,
    new Date((until ?? latestSeconds) * 1000),
    behind > before ? behind : before,
    maxResent + 1,
  ]);
}

async function ordinalOf(queryable: Queryable, merchantId: string, deliveryId: string): Promise<bigint> {
  const [row] = await queryable.query(sql.deliveryOrdinal, [merchantId, deliveryId]);
  if (row === undefined) throw new Refusal('delivery_not_found', { param: 'after', detail: deliveryId });
  return row.ordinal;
}
