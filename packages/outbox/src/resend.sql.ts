import { statement } from '@florin/pg';

const candidate = { delivery_id: 'text', ordinal: 'int8' } as const;

// Those that wait for the time of their next attempt. The others are due, under way, or wait for an earlier event of their
// object or for their webhook.
const waitsForTime = (now: string) => `deliveries.next_attempt_at > ${now}
     and (deliveries.claimed_until is null or deliveries.claimed_until <= ${now})`;

// Excludes removed webhooks and expired events.
const resendable = `join webhooks on webhooks.webhook_id = deliveries.webhook_id
   join events on events.event_id = deliveries.event_id
   where deliveries.merchant_id = :merchantId and webhooks.status <> 'removed' and events.body <> ''
     and events.created_at > :eventsSince
     and deliveries.status = any (:statuses) and (deliveries.status <> 'pending' or ${waitsForTime(':now')})`;

export const deliveriesOfEvent = statement({
  name: 'webhooks_deliveries_of_event',
  parameters: {
    merchantId: 'text',
    eventsSince: 'timestamptz',
    now: 'timestamptz',
    statuses: 'text[]',
    eventId: 'text',
    webhookId: 'text',
    afterOrdinal: 'int8',
    limit: 'int8',
  },
  columns: candidate,
  text: `select deliveries.delivery_id, deliveries.ordinal from deliveries ${resendable}
     and deliveries.event_id = :eventId and (:webhookId = '' or deliveries.webhook_id = :webhookId) and deliveries.ordinal > :afterOrdinal
   order by deliveries.ordinal limit :limit`,
});

// Along the index of the webhook's deliveries, oldest first.
export const deliveriesOfTime = statement({
  name: 'webhooks_deliveries_of_time',
  parameters: {
    merchantId: 'text',
    eventsSince: 'timestamptz',
    now: 'timestamptz',
    statuses: 'text[]',
    webhookId: 'text',
    since: 'timestamptz',
    until: 'timestamptz',
    afterOrdinal: 'int8',
    limit: 'int8',
  },
  columns: candidate,
  text: `select deliveries.delivery_id, deliveries.ordinal from deliveries ${resendable}
     and deliveries.webhook_id = :webhookId and deliveries.created_at >= :since and deliveries.created_at < :until
     and deliveries.ordinal > :afterOrdinal
   order by deliveries.ordinal limit :limit`,
});

export const deliveryOrdinal = statement({
  name: 'webhooks_delivery_ordinal',
  parameters: { merchantId: 'text', deliveryId: 'text' },
  columns: { ordinal: 'int8' },
  text: 'select ordinal from deliveries where merchant_id = :merchantId and delivery_id = :deliveryId',
});

// Excludes removed webhooks and expired events.
export const lockDelivery = statement({
  name: 'webhooks_lock_delivery',
  parameters: { merchantId: 'text', deliveryId: 'text', createdAfter: 'timestamptz' },
  columns: { delivery_id: 'text' },
  text: `select deliveries.delivery_id
   from deliveries
   join webhooks on webhooks.webhook_id = deliveries.webhook_id
   join events on events.event_id = deliveries.event_id
   where deliveries.merchant_id = :merchantId and deliveries.delivery_id = :deliveryId and webhooks.status <> 'removed'
     and events.body <> '' and events.created_at > :createdAfter
   for no key update of deliveries`,
});

// The schedule starts again, and the log continues counting. Deliveries of a webhook that is not active wait.
export const restartDeliveries = statement({
  name: 'webhooks_restart_deliveries',
  parameters: { deliveryIds: 'text[]', nextAttemptAt: 'timestamptz', statuses: 'text[]' },
  columns: { restarted: 'int8', woken: 'text?' },
  text: `with restarted as (
     update deliveries
     set status = 'pending', next_attempt_at = case when webhooks.status = 'active' then :nextAttemptAt::timestamptz end,
       attempts_before_replay = attempt_count
     from webhooks
     where deliveries.delivery_id = any (:deliveryIds) and deliveries.status = any (:statuses)
       and (deliveries.status <> 'pending' or ${waitsForTime(':nextAttemptAt::timestamptz')})
       and webhooks.webhook_id = deliveries.webhook_id and webhooks.status <> 'removed'
     returning next_attempt_at
   )
   select (select count(*) from restarted) as restarted,
     (select pg_notify('florin_deliveries', '')::text
      where exists (select from restarted where next_attempt_at is not null)) as woken`,
});
