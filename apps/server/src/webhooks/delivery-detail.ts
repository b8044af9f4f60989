import { oldestReadable, plainHeaders } from '@florin/outbox';
import type { Queryable, Row } from '@florin/pg';
import {
  type AttemptChange,
  type DeliveryDetail,
  type DeliveryStatus,
  maxShownAttempts,
} from '@florin/protocol/delivery-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { type Clock, unixSeconds } from '#outside/clock.ts';
import { attemptsOf, deliveryById } from './delivery-detail.sql.ts';

type AttemptRow = Row<typeof attemptsOf>;
type ShownAttempt = DeliveryDetail['attempts'][number];

/**
 * One delivery with its body and its last 20 attempts: their requests without signatures, and the differences between them.
 * Refuses an unknown delivery, or one whose event has expired (100505).
 */
export async function deliveryDetail(
  queryable: Queryable,
  deps: { readonly clock: Clock },
  request: { readonly merchantId: string; readonly deliveryId: string },
): Promise<DeliveryDetail> {
  const { merchantId, deliveryId } = request;
  const since = oldestReadable(deps.clock.now());
  const [row] = await queryable.query(deliveryById, { merchantId, deliveryId, createdAfter: since });
  if (row === undefined) throw new Refusal('delivery_not_found', deliveryId);
  const newestFirst = await queryable.query(attemptsOf, { deliveryId, limit: maxShownAttempts });
  return {
    deliveryId: row.delivery_id,
    eventId: row.event_id,
    eventType: row.event_type,
    // A check constraint of the schema guarantees the type.
    status: row.status as DeliveryStatus,
    webhookId: row.webhook_id,
    body: row.body,
    attempts: newestFirst
      .slice(0, maxShownAttempts)
      .map((attempt, index) => shown(row.event_id, attempt, newestFirst[index + 1]))
      .reverse(),
    nextAttemptAt: row.next_attempt_at === null ? null : formatTimestamp(row.next_attempt_at),
    createAt: formatTimestamp(row.created_at),
  };
}

function shown(eventId: string, attempt: AttemptRow, before: AttemptRow | undefined): ShownAttempt {
  return {
    attempt: attempt.attempt,
    at: formatTimestamp(attempt.attempted_at),
    request: {
      url: attempt.request_url,
      headers: plainHeaders(eventId, unixSeconds(attempt.attempted_at)),
    },
    httpStatus: attempt.http_status,
    latencyMs: attempt.latency_ms,
    error: attempt.error,
    responseBody: attempt.response_body,
    changes: before === undefined ? [] : changesBetween(before, attempt),
  };
}

function changesBetween(before: AttemptRow, after: AttemptRow): AttemptChange[] {
  const columns = {
    url: 'request_url',
    httpStatus: 'http_status',
    error: 'error',
    responseBody: 'response_body',
  } as const;
  return Object.entries(columns)
    .filter(([, column]) => before[column] !== after[column])
    .map(([change]) => change as AttemptChange);
}
