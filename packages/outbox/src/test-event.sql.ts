import { statement } from '@florin/pg';

// The event goes to this one webhook, past all subscriptions. A test is an object of its own, so its sequence is 1.
export const insertTestEvent = statement(
  'webhooks_insert_test_event',
  ['text', 'text', 'text', 'text', 'text', 'text', 'timestamptz', 'text'],
  { status: 'text', woken: 'text?' },
  `with event as (
     insert into events (event_id, merchant_id, event_type, object_id, sequence, body, created_at)
     values ($1, $2, $8, $1, 1, $3, $7)
   ), delivery as (
     insert into deliveries
       (delivery_id, event_id, webhook_id, merchant_id, object_id, sequence, status, next_attempt_at, created_at)
     values ($4, $1, $5, $2, $1, 1, $6, case when $6 = 'pending' then $7 end, $7)
     returning status
   )
   select status, (select pg_notify('florin_deliveries', '')::text where status = 'pending') as woken from delivery`,
);
