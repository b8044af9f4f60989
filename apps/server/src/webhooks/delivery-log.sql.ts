import { statement } from '@florin/pg';
import { listPlace, listTotal, pageSize } from '#db/list-page.ts';

export const deliveryPage = statement(
  'webhooks_delivery_page',
  ['text', 'text', 'int8', 'int8', 'text'],
  {
    delivery_id: 'text',
    event_id: 'text',
    event_type: 'text',
    status: 'text',
    next_attempt_at: 'timestamptz?',
    created_at: 'timestamptz',
    total: 'int8?',
    is_listed: 'bool',
  },
  `with ${listPlace({
    list: 'deliveries',
    total: listTotal('deliveries', '$2'),
    condition: 'webhook_id = $2',
    skip: '$4',
    after: { idColumn: 'delivery_id', id: '$5' },
  })}
   select page.delivery_id, page.event_id, events.event_type, page.status, page.next_attempt_at, page.created_at,
     place.total, page.delivery_id is not null as is_listed
   from place left join lateral (
     select delivery_id, event_id, status, next_attempt_at, created_at, ordinal from deliveries
     where webhook_id = $2 and ordinal <= (select ordinal from first_row)
     order by ordinal desc limit ${pageSize('$3')}
   ) as page on true
   left join events on events.event_id = page.event_id
   order by page.ordinal desc`,
);

// The last $2 of each: along the primary key, backwards.
export const lastAttempts = statement(
  'webhooks_last_attempts',
  ['text[]', 'int8'],
  {
    delivery_id: 'text',
    attempt: 'int4',
    attempted_at: 'timestamptz',
    http_status: 'int4?',
    latency_ms: 'int4',
    error: 'text',
    response_body: 'text',
  },
  `select shown.delivery_id, shown.attempt, shown.attempted_at, shown.http_status, shown.latency_ms, shown.error,
     shown.response_body
   from unnest($1::text[]) as wanted (delivery_id)
   cross join lateral (
     select delivery_id, attempt, attempted_at, http_status, latency_ms, error, response_body
     from delivery_attempts where delivery_attempts.delivery_id = wanted.delivery_id
     order by attempt desc limit $2
   ) as shown
   order by shown.delivery_id, shown.attempt`,
);
