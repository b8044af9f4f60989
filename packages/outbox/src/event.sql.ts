import { statement } from '@florin/pg';
import { base62Alphabet, idBodyLength, idPrefixes } from './id.ts';

// The ids of deliveries are derived from the event's id, which is random.
const deliveryStem = `'${idPrefixes.delivery}' || substr(event_id, ${idPrefixes.event.length + 1}, ${idBodyLength - 1})`;

// What happened to objects that may have events already, numbered after those, in the order given.
const incomingEvents = `incoming_events as (
    select * from unnest(
      :eventIds::text[], :merchantIds::text[], :eventTypes::text[], :eventPatterns::text[], :objectIds::text[],
      :heads::text[], :tails::text[], :createdAts::timestamptz[]
    ) with ordinality as incoming (
      event_id, merchant_id, event_type, event_pattern, object_id, head, tail, created_at, position
    )
  ), sequenced_events as (
    select
      incoming_events.*,
      coalesce((select max(events.sequence) from events where events.object_id = incoming_events.object_id), 0)
        + row_number() over (partition by incoming_events.object_id order by incoming_events.position) as sequence
    from incoming_events
  ), numbered_events as (
    select *, head || sequence::text || tail as body, ${deliveryStem} as delivery_stem from sequenced_events
  )`;

/** Columns of a new object's row for its first event, with the array type of each. */
export const firstEventColumns = { event_id: 'text[]', event_body: 'text[]' } as const;

/** Tables of the statement that creates the objects. */
interface FirstEventSource {
  /** The objects, with the columns above, merchant_id, created_at and position. */
  readonly from: string;
  /** The column of their ids. */
  readonly objectId: string;
  /** A table with merchant_id, in which an owner may occur several times. */
  readonly owners: string;
}

/**
 * Common tables that write the first events of objects that the statement itself creates, and their deliveries. Webhooks are
 * looked up once for each owner. The events belong to different objects, so their order does not matter. `numbered_events` is
 * not materialized, because that would copy every body once more.
 */
export function firstEventWrites(type: string, source: FirstEventSource): string {
  return `numbered_events as not materialized (
    select
      event_id, merchant_id, '${type}' as event_type, ${source.objectId} as object_id, 1::bigint as sequence,
      event_body as body, ${deliveryStem} as delivery_stem, created_at, position
    from ${source.from}
  ), listeners as materialized (
    select webhook_id, merchant_id, status, ordinal from webhooks
    where merchant_id in (select merchant_id from ${source.owners}) and status <> 'removed'
      and subscribed_events && array['*', '${type}', '${patternOf(type)}']
  ), ${insertedEvents()}, ${queuedDeliveries('listeners')}`;
}

/** The subscription to all events of the type's family, such as `session.*`. */
export function patternOf(type: string): string {
  return `${type.slice(0, type.lastIndexOf('.'))}.*`;
}

/** The common table that inserts everything in `numbered_events`. */
function insertedEvents(order = ''): string {
  return `inserted_events as (
    insert into events (event_id, merchant_id, event_type, object_id, sequence, body, created_at)
    select event_id, merchant_id, event_type, object_id, sequence, body, created_at
    from numbered_events ${order}
  )`;
}

/**
 * The common table that inserts a delivery for each event of `numbered_events` and each webhook of its owner. An owner has at
 * most 10 webhooks, so one character after the event's stem makes the id of each delivery.
 */
function queuedDeliveries(listeners: string, condition = 'true'): string {
  return `queued_deliveries as (
    insert into deliveries
      (delivery_id, event_id, webhook_id, merchant_id, object_id, sequence, status, next_attempt_at, created_at)
    select
      numbered_events.delivery_stem || substr(
        '${base62Alphabet}',
        row_number() over (partition by numbered_events.event_id order by ${listeners}.ordinal)::int,
        1
      ),
      numbered_events.event_id,
      ${listeners}.webhook_id,
      numbered_events.merchant_id,
      numbered_events.object_id,
      numbered_events.sequence,
      case when ${listeners}.status = 'active' then 'pending' else 'skipped' end,
      case when ${listeners}.status = 'active' then numbered_events.created_at end,
      numbered_events.created_at
    from numbered_events
    join ${listeners} on ${listeners}.merchant_id = numbered_events.merchant_id
    where ${condition}
    order by numbered_events.position
    returning status
  )`;
}

/** Common tables that write everything in `numbered_events`, in its order, and the deliveries. */
const outboxWrites = `${insertedEvents('order by position')}, ${queuedDeliveries(
  'webhooks',
  `webhooks.status <> 'removed'
      and webhooks.subscribed_events && array['*', numbered_events.event_type, numbered_events.event_pattern]`,
)}`;

/** An expression that notifies the delivery engine at commit if there is something to send. */
export const outboxWake = `(
    select pg_notify('florin_deliveries', '')::text
    where exists (select from queued_deliveries where queued_deliveries.status = 'pending')
  )`;

export const insertEvents = statement({
  name: 'webhooks_insert_events',
  parameters: {
    eventIds: 'text[]',
    merchantIds: 'text[]',
    eventTypes: 'text[]',
    eventPatterns: 'text[]',
    objectIds: 'text[]',
    heads: 'text[]',
    tails: 'text[]',
    createdAts: 'timestamptz[]',
  },
  columns: { woken: 'text?' },
  text: `with ${incomingEvents}, ${outboxWrites} select ${outboxWake} as woken`,
});
