import type { Transaction } from '@florin/pg';
import type { Random } from './context.ts';
import { insertEvents, patternOf } from './event.sql.ts';
import { eventBody } from './event-body.ts';
import { newId } from './id.ts';

// For applications that write events in the statement of the change itself.
export { firstEventColumns, firstEventWrites, outboxWake } from './event.sql.ts';

/** Something that happened to one object, for the webhooks of its owner. */
export interface OutboxEvent {
  readonly ownerId: string;
  /** Such as `order.paid`: a family and a name. Subscriptions are types, `order.*` or `*`. */
  readonly type: string;
  /** The object of the event. Events of one object are numbered and arrive in order. */
  readonly objectId: string;
  /** The JSON text of `data`, sent byte for byte. */
  readonly dataJson: string;
  /** A shorter form, for a body over 64 KiB. */
  readonly shortDataJson?: (() => string) | undefined;
  readonly at: Date;
}

/**
 * Writes events and their deliveries in your transaction. Committed events are sent at least once, others never. Each object
 * has its own sequence from 1: the caller holds a lock on the object's row, or has just inserted it.
 */
export async function emit(
  transaction: Transaction,
  random: Pick<Random, 'bytes'>,
  events: readonly OutboxEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const eventIds = events.map(() => newId('event', random));
  const bodies = events.map((event, index) => eventBody({ ...event, eventId: eventIds[index] ?? '' }));
  await transaction.query(insertEvents, {
    eventIds,
    merchantIds: events.map((event) => event.ownerId),
    eventTypes: events.map((event) => event.type),
    eventPatterns: events.map((event) => patternOf(event.type)),
    objectIds: events.map((event) => event.objectId),
    heads: bodies.map((body) => body.head),
    tails: bodies.map((body) => body.tail),
    createdAts: events.map((event) => event.at),
  });
}

/** Values of `firstEventColumns`: the first event of each new object. */
export function firstEventValues(
  random: Pick<Random, 'bytes'>,
  events: readonly Pick<OutboxEvent, 'type' | 'dataJson' | 'shortDataJson' | 'at'>[],
) {
  const eventIds = events.map(() => newId('event', random));
  const bodies = events.map((event, index) => eventBody({ ...event, eventId: eventIds[index] ?? '' }));
  return { event_id: eventIds, event_body: bodies.map(({ head, tail }) => `${head}1${tail}`) };
}
