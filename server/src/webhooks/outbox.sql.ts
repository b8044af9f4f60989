import type { EventType } from '@florin/protocol/event.ts';
import { base62Alphabet } from '@florin/protocol/id.ts';
import { statement } from '#db/statement.ts';

// What happened to objects that may have events already, numbered after those, in the order given.
const incomingEvents = `incoming_events as (
    select * from unnest(
      $1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::timestamptz[]
    ) with ordinality as incoming (
      event_id, merchant_id, event_type, event_pattern, object_id, head, tail, delivery_stem, created_at, position
    )
  ), sequenced_events as (
    select
      incoming_events.*,
      coalesce((select max(events.sequence) from events where events.object_id = incoming_events.object_id), 0)
        + row_number() over (partition by incoming_events.object_id order by incoming_events.position) as sequence
    from incoming_events
  ), numbered_events as (
    select *, head || sequence::text || tail as body from sequenced_events
  )`;

/** Columns that a draft of a new object carries its first event in, with the type of the array of each. */
export const firstEventColumns = [
  ['event_id', 'text[]'],
  ['event_body', 'text[]'],
  ['delivery_stem', 'text[]'],
] as const;

/**
 * The common table `numbered_events` for objects that the statement itself creates, from a table of theirs with the
 * columns above, merchant_id, created_at and position. Nothing needs to be looked up, and what the object's row holds
 * already is not sent twice. Not materialized, which would copy every body once more.
 */
export function firstEvents(type: EventType, drafts: { from: string; objectId: string }): string {
  return `numbered_events as not materialized (
    select
      event_id, merchant_id, '${type}' as event_type, '${patternOf(type)}' as event_pattern,
      ${drafts.objectId} as object_id, 1::bigint as sequence, event_body as body, delivery_stem, created_at, position
    from ${drafts.from}
  )`;
}

/** The subscription that takes every event of the type's family, such as `session.*`. */
export function patternOf(type: EventType): string {
  return `${type.slice(0, type.lastIndexOf('.'))}.*`;
}

/**
 * Common tables that write everything in `numbered_events` and its deliveries. A merchant has at most 10 webhooks, so
 * one more character makes an event's random stem into the id of each delivery: no need to know their number first.
 */
export const outboxWrites = `inserted_events as (
    insert into events (event_id, merchant_id, event_type, object_id, sequence, body, created_at)
    select event_id, merchant_id, event_type, object_id, sequence, body, created_at
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
  ['text[]', 'text[]', 'text[]', 'text[]', 'text[]', 'text[]', 'text[]', 'text[]', 'timestamptz[]'],
  { woken: 'text?' },
  `with ${incomingEvents}, ${outboxWrites} select ${outboxWake} as woken`,
);
