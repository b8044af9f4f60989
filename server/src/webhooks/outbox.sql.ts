import { base62Alphabet } from '@florin/protocol/id.ts';
import { statement } from '#db/statement.ts';

/** Parameters of `incomingEvents`, in order. */
export const incomingEventKinds = [
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'text[]',
  'timestamptz[]',
] as const;

/**
 * The common table `incoming_events`, from nine array parameters of which the first has this number. With another name a
 * statement can define `incoming_events` itself, as those of them that it wants written.
 */
export function incomingEvents(first: number, name = 'incoming_events'): string {
  const at = (offset: number) => `$${first + offset}`;
  return `${name} as (
    select * from unnest(
      ${at(0)}::text[], ${at(1)}::text[], ${at(2)}::text[], ${at(3)}::text[], ${at(4)}::text[], ${at(5)}::text[],
      ${at(6)}::text[], ${at(7)}::text[], ${at(8)}::timestamptz[]
    ) with ordinality as incoming (
      event_id, merchant_id, event_type, event_pattern, object_id, head, tail, delivery_stem, created_at, position
    )
  )`;
}

/** Numbers events after those that their objects have already, in the order given. */
const numberedEvents = `numbered_events as (
    select
      incoming_events.*,
      coalesce((select max(events.sequence) from events where events.object_id = incoming_events.object_id), 0)
        + row_number() over (partition by incoming_events.object_id order by incoming_events.position) as sequence
    from incoming_events
  )`;

/** The same for objects that the statement itself creates, with one event each: nothing needs to be looked up. */
export const firstEvents =
  'numbered_events as (select incoming_events.*, 1::bigint as sequence from incoming_events)';

/**
 * Common tables that write everything in `numbered_events` and its deliveries. A merchant has at most 10 webhooks, so
 * one more character makes an event's random stem into the id of each delivery: no need to know their number first.
 */
export const outboxWrites = `inserted_events as (
    insert into events (event_id, merchant_id, event_type, object_id, sequence, body, created_at)
    select event_id, merchant_id, event_type, object_id, sequence, head || sequence::text || tail, created_at
    from numbered_events
    order by position
  ), queued_deliveries as (
    insert into deliveries
      (delivery_id, event_id, webhook_id, merchant_id, object_id, sequence, status, next_attempt_at, created_at)
    select
      numbered_events.delivery_stem || substr(
        '${base62Alphabet}',
        row_number() over (partition by numbered_events.event_id order by webhooks.ordinal)::int,
        1
      ),
      numbered_events.event_id,
      webhooks.webhook_id,
      numbered_events.merchant_id,
      numbered_events.object_id,
      numbered_events.sequence,
      case when webhooks.status = 'active' then 'pending' else 'skipped' end,
      case when webhooks.status = 'active' then numbered_events.created_at end,
      numbered_events.created_at
    from numbered_events
    join webhooks on webhooks.merchant_id = numbered_events.merchant_id
    where webhooks.status <> 'removed'
      and webhooks.subscribed_events && array['*', numbered_events.event_type, numbered_events.event_pattern]
    order by numbered_events.position
    returning status
  )`;

/** An expression that wakes the delivery engine at commit when there is something to send. */
export const outboxWake = `(
    select pg_notify('florin_deliveries', '')::text
    where exists (select from queued_deliveries where queued_deliveries.status = 'pending')
  )`;

export const insertEvents = statement(
  'webhooks_insert_events',
  incomingEventKinds,
  { woken: 'text?' },
  `with ${incomingEvents(1)}, ${numberedEvents}, ${outboxWrites} select ${outboxWake} as woken`,
);
