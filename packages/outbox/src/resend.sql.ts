import { statement } from '@florin/pg';

const candidate = { delivery_id: 'text', ordinal: 'int8' } as const;

// Not those of deleted webhooks, nor of events that can no longer be read.
const resendable = `join webhooks on webhooks.webhook_id = deliveries.webhook_id
   join events on events.event_id = deliveries.event_id
   where deliveries.merchant_id = $1 and webhooks.status <> 'removed' and events.body <> '' and events.created_at > $2
     and deliveries.status = any ($3)`;

export const deliveriesOfEvent = statement(
  'webhooks_deliveries_of_event',
  ['text', 'timestamptz', 'text[]', 'text', 'text', 'int8', 'int8'],
  candidate,
  `select deliveries.delivery_id, deliveries.ordinal from deliveries ${resendable}
     and deliveries.event_id = $4 and ($5 = '' or deliveries.webhook_id = $5) and deliveries.ordinal > $6
   order by deliveries.ordinal limit $7`,
);

// Along the index of the webhook's deliveries, oldest first.
export const deliveriesOfTime = statement(
  'webhooks_deliveries_of_time',
  ['text', 'timestamptz', 'text[]', 'text', 'timestamptz', 'timestamptz', 'int8', 'int8'],
  candidate,
  `select deliveries.delivery_id, deliveries.ordinal from deliveries ${resendable}
     and deliveries.webhook_id = $4 and deliveries.created_at >= $5 and deliveries.created_at < $6
     and deliveries.ordinal > $7
   order by deliveries.ordinal limit $8`,
);

export const deliveryOrdinal = statement(
  'webhooks_delivery_ordinal',
  ['text', 'text'],
  { ordinal: 'int8' },
  'select ordinal from deliveries where merchant_id = $1 and delivery_id = $2',
);

// Not those of deleted webhooks, nor of events that can no longer be read.
export const lockDelivery = statement(
  'webhooks_lock_delivery',
  ['text', 'text', 'timestamptz'],
  { delivery_id: 'text' },
  `select deliveries.delivery_id
   from deliveries
   join webhooks on webhooks.webhook_id = deliveries.webhook_id
   join events on events.event_id = deliveries.event_id
   where deliveries.merchant_id = $1 and deliveries.delivery_id = $2 and webhooks.status <> 'removed'
     and events.body <> '' and events.created_at > $3
   for no key update of deliveries`,
);

// As a replay does it: the schedule starts again, the log goes on counting. While its webhook is not active it waits.
export const restartDeliveries = statement(
  'webhooks_restart_deliveries',
  ['text[]', 'timestamptz', 'text[]'],
  { restarted: 'int8', woken: 'text?' },
  `with restarted as (
     update deliveries
     set status = 'pending', next_attempt_at = case when webhooks.status = 'active' then $2::timestamptz end,
       attempts_before_replay = attempt_count
     from webhooks
     where deliveries.delivery_id = any ($1) and deliveries.status = any ($3)
       and webhooks.webhook_id = deliveries.webhook_id and webhooks.status <> 'removed'
     returning next_attempt_at
   )
   select (select count(*) from restarted) as restarted,
     (select pg_notify('florin_deliveries', '')::text
      where exists (select from restarted where next_attempt_at is not null)) as woken`,
);
