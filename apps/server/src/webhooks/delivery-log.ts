import { findWebhook, type OutboxContext } from '@florin/outbox';
import type { Queryable, Row } from '@florin/pg';
import { type Delivery, type DeliveryStatus, maxShownAttempts } from '@florin/protocol/delivery-api.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { type ListPage, type ListRequest, pageValues, readPage } from '#db/list-page.ts';
import * as sql from './delivery-log.sql.ts';

/** One page of a webhook's deliveries, newest first, with the exact total. Refuses an unknown webhook (100501). */
export async function listDeliveries(
  queryable: Queryable,
  context: OutboxContext,
  request: ListRequest & { readonly webhookId: string },
): Promise<{ place: ListPage; deliveries: Delivery[] }> {
  const { merchantId, webhookId, size } = request;
  await findWebhook(queryable, context, { ownerId: merchantId, webhookId });
  const found = await queryable.query(sql.deliveryPage, { ...pageValues(request), webhookId });
  const { place, rows } = readPage(found, size, (row) => row.delivery_id);
  const attempts = await queryable.query(sql.lastAttempts, {
    deliveryIds: rows.map((row) => row.delivery_id),
    limit: maxShownAttempts,
  });
  const byDelivery = Map.groupBy(attempts, (attempt) => attempt.delivery_id);
  return {
    place,
    deliveries: rows.map((row) => deliveryOf(row, byDelivery.get(row.delivery_id) ?? [])),
  };
}

function deliveryOf(row: Row<typeof sql.deliveryPage>, attempts: Row<typeof sql.lastAttempts>[]): Delivery {
  return {
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    eventType: row.event_type,
    // A check constraint of the schema guarantees the type.
    status: row.status as DeliveryStatus,
    attempts: attempts.map((attempt) => ({
      attempt: attempt.attempt,
      at: formatTimestamp(attempt.attempted_at),
      httpStatus: attempt.http_status,
      latencyMs: attempt.latency_ms,
      error: attempt.error,
      responseBody: attempt.response_body,
    })),
    nextAttemptAt: row.next_attempt_at === null ? null : formatTimestamp(row.next_attempt_at),
    createAt: formatTimestamp(row.created_at),
  };
}
