import { statement } from '@florin/pg';

export const deliveryById = statement(
  'webhooks_delivery_by_id',
  ['text', 'text', 'timestamptz'],
  {
    delivery_id: 'text',
    webhook_id: 'text',
    event_id: 'text',
    event_type: 'text',
    status: 'text',
    next_attempt_at: 'timestamptz?',
    created_at: 'timestamptz',
    body: 'text',
  },
  `select deliveries.delivery_id, deliveries.webhook_id, deliveries.event_id, events.event_type, deliveries.status,
     deliveries.next_attempt_at, deliveries.created_at, events.body
   from deliveries join events on events.event_id = deliveries.event_id
   where deliveries.merchant_id = $1 and deliveries.delivery_id = $2
     and events.body <> '' and events.created_at > $3`,
);

// The last $2, along the primary key, backwards; and one more, which the first shown is compared with.
export const attemptsOf = statement(
  'webhooks_attempts_of',
  ['text', 'int8'],
  {
    attempt: 'int4',
    attempted_at: 'timestamptz',
    http_status: 'int4?',
    latency_ms: 'int4',
    error: 'text',
    response_body: 'text',
    request_url: 'text',
  },
  `select attempt, attempted_at, http_status, latency_ms, error, response_body, request_url
   from delivery_attempts where delivery_id = $1
   order by attempt desc limit $2::int8 + 1`,
);
