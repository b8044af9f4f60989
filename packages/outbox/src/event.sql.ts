import { statement } from '@florin/pg';
import { base62Alphabet, idBodyLength, idPrefixes } from './id.ts';

// An event's id is random enough for those of its deliveries too.
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

/** Columns of a new object's row that hold its first event, with the type of the array that carries each. */
export const firstEventColumns = { event_id: 'text[]', event_body: 'text[]' } as const;

/** Where the first events of new objects come from: tables of the statement that creates the objects. */
interface FirstEventDrafts {
  /** The objects, with the columns above, merchant_id, created_at and position. */
  readonly from: string;
  /** The column of their ids. */
  readonly objectId: string;
  /** Whose they are: a table with merchant_id, in which an owner may appear many times. */
  readonly owners: string;
}

/**
 * Common tables that write the events with which objects begin that the statement itself creates, and their deliveries.
 * Nothing needs to be looked up for an event, and what the object's row holds already is not sent twice: the ids of
 * deliveries come from the event's. Listeners are looked up once for each owner, not for each event. The events of one
 * statement are about different objects, so that their order among themselves says nothing. Not materialized, which would
 * copy every body once more.
 */
export function firstEventWrites(type: string, drafts: FirstEventDrafts): string {
  return `numbered_events as not materialized (
    select
      event_id, merchant_id, '${type}' as event_type, ${drafts.objectId} as object_id, 1::bigint as sequence,
      event_body as body, ${deliveryStem} as delivery_stem, created_at, position
    from ${drafts.from}
  ), listeners as materialized (
    select webhook_id, merchant_id, status, ordinal from webhooks
    where merchant_id in (select merchant_id from ${drafts.owners}) and status <> 'removed'
      and subscribed_events && array['*', '${type}', '${patternOf(type)}']
  ), ${insertedEvents()}, ${queuedDeliveries('listeners')}`;
}

/** The subscription that takes every event of the type's family, such as `session.*`. */
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
 * The common table that inserts a delivery for each event of `numbered_events` and each of its owner's listeners. An
 * owner has at most 10 webhooks, so one more character makes an event's stem into the id of each delivery.
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

/** An expression that wakes the delivery engine at commit when there is something to send. */
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
