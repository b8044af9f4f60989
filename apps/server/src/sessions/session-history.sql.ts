import { statement } from '@florin/pg';

// Housekeeping empties the bodies of old events, and keeps the last event of an object.
export const eventsOfSession = statement({
  name: 'session_history_events',
  parameters: { sessionId: 'text' },
  columns: { event_id: 'text', event_type: 'text', created_at: 'timestamptz' },
  text: `select event_id, event_type, created_at from events where object_id = :sessionId order by sequence`,
});

export const chainEventsOfSession = statement({
  name: 'session_history_chain_events',
  parameters: { sessionId: 'text' },
  columns: {
    event_name: 'text',
    chain_id: 'int8',
    tx_hash: 'text',
    block_number: 'int8',
    block_time: 'timestamptz',
    is_final: 'bool',
  },
  text: `select e.event_name, e.chain_id, e.tx_hash, e.block_number, e.block_time, e.is_final
   from orders o join chain_events e on e.order_id = o.order_id
   where o.session_id = :sessionId order by e.block_time, e.chain_id, e.block_number, e.log_index`,
});

// The table is small, and empty where no reorg was below finality.
export const droppedOfSession = statement({
  name: 'session_history_dropped',
  parameters: { sessionId: 'text' },
  columns: {
    event_name: 'text',
    chain_id: 'int8',
    tx_hash: 'text',
    block_number: 'int8',
    block_time: 'timestamptz',
    dropped_at: 'timestamptz',
  },
  text: `select d.event_name, d.chain_id, d.tx_hash, d.block_number, d.block_time, d.dropped_at
   from orders o join dropped_events d on d.order_id = o.order_id
   where o.session_id = :sessionId order by d.block_time, d.chain_id, d.block_number, d.log_index`,
});

export const deliveriesOfSession = statement({
  name: 'session_history_deliveries',
  parameters: { sessionId: 'text', limit: 'int8' },
  columns: {
    delivery_id: 'text',
    webhook_id: 'text',
    webhook_url: 'text',
    event_type: 'text',
    status: 'text',
    attempt_count: 'int4',
    created_at: 'timestamptz',
  },
  text: `select d.delivery_id, d.webhook_id, w.webhook_url, e.event_type, d.status, d.attempt_count, d.created_at
   from events e join deliveries d on d.event_id = e.event_id join webhooks w on w.webhook_id = d.webhook_id
   where e.object_id = :sessionId order by d.ordinal desc limit :limit`,
});
