import type { Queryable } from '@florin/pg';
import type { DeliveryStatus } from '@florin/protocol/delivery-api.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import {
  chainEventsOfSession,
  deliveriesOfSession,
  droppedOfSession,
  eventsOfSession,
} from './session-history.sql.ts';

/** Deliveries that a history shows. */
const maxDeliveries = 100;

/** The events of a session, what the chains show of its orders and no longer show, and the latest deliveries of its events. */
export async function readSessionHistory(queryable: Queryable, sessionId: string) {
  const events = await queryable.query(eventsOfSession, { sessionId });
  const chainEvents = await queryable.query(chainEventsOfSession, { sessionId });
  const dropped = await queryable.query(droppedOfSession, { sessionId });
  const deliveries = await queryable.query(deliveriesOfSession, { sessionId, limit: maxDeliveries });
  return {
    events: events.map((row) => ({
      eventId: row.event_id,
      type: row.event_type,
      at: formatTimestamp(row.created_at),
    })),
    chainEvents: chainEvents.map((row) => ({
      name: row.event_name,
      chainId: String(row.chain_id),
      txHash: row.tx_hash,
      blockNumber: Number(row.block_number),
      at: formatTimestamp(row.block_time),
      isFinal: row.is_final,
    })),
    droppedEvents: dropped.map((row) => ({
      name: row.event_name,
      chainId: String(row.chain_id),
      txHash: row.tx_hash,
      blockNumber: Number(row.block_number),
      at: formatTimestamp(row.block_time),
      droppedAt: formatTimestamp(row.dropped_at),
    })),
    deliveries: deliveries.map((row) => ({
      deliveryId: row.delivery_id,
      webhookId: row.webhook_id,
      url: row.webhook_url,
      eventType: row.event_type,
      status: row.status as DeliveryStatus,
      attempts: row.attempt_count,
      at: formatTimestamp(row.created_at),
    })),
  };
}
