import { statement } from '@florin/pg';

// Housekeeping keeps the last event of an object with an empty body.
export const eventById = statement({
  name: 'webhooks_event_by_id',
  parameters: { eventId: 'text', merchantId: 'text', createdAfter: 'timestamptz' },
  columns: { ordinal: 'int8', body: 'text' },
  text: `select ordinal, body from events
   where event_id = :eventId and merchant_id = :merchantId and created_at > :createdAfter and body <> ''`,
});

/**
 * Removes old events with their deliveries, unless one of those is pending. The last event of an object keeps its row without
 * the body, for the sequence of the next. The caller takes events so old that no delivery becomes pending meanwhile.
 */
export const removeOldEvents = statement({
  name: 'webhooks_remove_old_events',
  parameters: { createdBefore: 'timestamptz', limit: 'int8' },
  columns: { removed: 'int8' },
  text: `with old as materialized (
     select event_id, exists (
       select from events as later
       where later.object_id = events.object_id and later.sequence > events.sequence
     ) as has_later
     from events
     where created_at < :createdBefore and body <> ''
       and not exists (
         select from deliveries where deliveries.event_id = events.event_id and deliveries.status = 'pending')
     -- Workers remove different events at the same time.
     order by created_at limit :limit for update skip locked
   ), old_deliveries as materialized (
     select deliveries.delivery_id from deliveries join old on old.event_id = deliveries.event_id
   ), gone_attempts as (
     delete from delivery_attempts using old_deliveries
     where delivery_attempts.delivery_id = old_deliveries.delivery_id
   ), gone_deliveries as (
     delete from deliveries using old_deliveries where deliveries.delivery_id = old_deliveries.delivery_id
   ), gone_events as (
     delete from events using old where events.event_id = old.event_id and old.has_later
   ), emptied_events as (
     update events set body = '' from old where events.event_id = old.event_id and not old.has_later
   )
   select count(*) as removed from old`,
});
