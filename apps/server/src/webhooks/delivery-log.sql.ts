import { statement } from '@florin/pg';
import { listTotal, pageColumns, pageParameters, pageText } from '#db/list-page.ts';

const columns = {
  delivery_id: 'text',
  event_id: 'text',
  event_type: 'text',
  status: 'text',
  next_attempt_at: 'timestamptz?',
  created_at: 'timestamptz',
} as const;

export const deliveryPage = statement({
  name: 'webhooks_delivery_page',
  parameters: { ...pageParameters, webhookId: 'text' },
  columns: { ...columns, ...pageColumns },
  text: pageText({
    table: 'deliveries',
    id: 'delivery_id',
    total: listTotal('deliveries', ':webhookId'),
    condition: 'webhook_id = :webhookId',
    columns: Object.keys(columns).join(', '),
    shown: (rows) =>
      `select shown.*, events.event_type from (${rows}) as shown left join events on events.event_id = shown.event_id`,
  }),
});

// The last attempts of each delivery, read backwards along the primary key.
export const lastAttempts = statement({
  name: 'webhooks_last_attempts',
  parameters: { deliveryIds: 'text[]', limit: 'int8' },
  columns: {
    delivery_id: 'text',
    attempt: 'int4',
    attempted_at: 'timestamptz',
    http_status: 'int4?',
    latency_ms: 'int4',
    error: 'text',
    response_body: 'text',
  },
  text: `select shown.delivery_id, shown.attempt, shown.attempted_at, shown.http_status, shown.latency_ms, shown.error,
     shown.response_body
   from unnest(:deliveryIds::text[]) as wanted (delivery_id)
   cross join lateral (
     select delivery_id, attempt, attempted_at, http_status, latency_ms, error, response_body
     from delivery_attempts where delivery_attempts.delivery_id = wanted.delivery_id
     order by attempt desc limit :limit
   ) as shown
   order by shown.delivery_id, shown.attempt`,
});
