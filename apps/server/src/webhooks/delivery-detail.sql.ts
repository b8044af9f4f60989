import { statement } from '@florin/pg';

export const deliveryById = statement({
  name: 'webhooks_delivery_by_id',
  parameters: { merchantId: 'text', deliveryId: 'text', createdAfter: 'timestamptz' },
  columns: {
    delivery_id: 'text',
    webhook_id: 'text',
    event_id: 'text',
    event_type: 'text',
    status: 'text',
    next_attempt_at: 'timestamptz?',
    created_at: 'timestamptz',
    body: 'text',
  },
  text: `select deliveries.delivery_id, deliveries.webhook_id, deliveries.event_id, events.event_type, deliveries.status,
     deliveries.next_attempt_at, deliveries.created_at, events.body
   from deliveries join events on events.event_id = deliveries.event_id
   where deliveries.merchant_id = :merchantId and deliveries.delivery_id = :deliveryId
     and events.body <> '' and events.created_at > :createdAfter`,
});

// The last attempts, and one more: the oldest shown attempt is compared with it.
export const attemptsOf = statement({
  name: 'webhooks_attempts_of',
  parameters: { deliveryId: 'text', limit: 'int8' },
  columns: {
    attempt: 'int4',
    attempted_at: 'timestamptz',
    http_status: 'int4?',
    latency_ms: 'int4',
    error: 'text',
    response_body: 'text',
    request_url: 'text',
  },
  text: `select attempt, attempted_at, http_status, latency_ms, error, response_body, request_url
   from delivery_attempts where delivery_id = :deliveryId
   order by attempt desc limit :limit::int8 + 1`,
});
