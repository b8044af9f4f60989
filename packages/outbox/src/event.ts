import type { Parameter, Transaction } from '@florin/pg';
import type { Random } from './context.ts';
import { insertEvents, patternOf } from './event.sql.ts';
import { eventBody } from './event-body.ts';
import { newId } from './id.ts';

// For applications that write their events in their own statement, in one round trip with the change itself.
export { firstEventColumns, firstEventWrites, outboxWake } from './event.sql.ts';

/** Something that happened to one object, for the webhooks of its owner. */
export interface OutboxEvent {
  readonly ownerId: string;
  /** Such as `order.paid`: a family and a name. Subscriptions are types, `order.*` or `*`. */
  readonly type: string;
  /** What the event is about. Its events are numbered, and arrive in order. */
  readonly objectId: string;
  /** What receivers get as `data`: JSON text, sent byte for byte. */
  readonly dataJson: string;
  /** The same with less in it, for a body over 64 KiB. */
  readonly shortDataJson?: (() => string) | undefined;
  readonly at: Date;
}

/**
 * Writes events and their deliveries in your transaction. What commits is sent at least once; what rolls back is never
 * sent. Sequences count per object from 1: the caller holds a lock on the object's row, or has just inserted it. The
 * statement travels with the transaction's next one, or with its commit.
 */
export async function emit(
  transaction: Transaction,
  random: Pick<Random, 'bytes'>,
  events: readonly OutboxEvent[],
): Promise<void> {
  if (events.length > 0) transaction.write(insertEvents, incomingEventValues(random, events));
}

/** The array parameters of the insert: new ids, bodies around their sequence, subscription patterns. */
function incomingEventValues(random: Pick<Random, 'bytes'>, events: readonly OutboxEvent[]): Parameter[] {
  const eventIds = events.map(() => newId('event', random));
  const bodies = events.map((event, index) => eventBody({ ...event, eventId: eventIds[index] ?? '' }));
  return [
    eventIds,
    events.map((event) => event.ownerId),
    events.map((event) => event.type),
    events.map((event) => patternOf(event.type)),
    events.map((event) => event.objectId),
    bodies.map((body) => body.head),
    bodies.map((body) => body.tail),
    events.map((event) => event.at),
  ];
}

/** Values of `firstEventColumns`: the events with which new objects begin, one for each. */
export function firstEventValues(
  random: Pick<Random, 'bytes'>,
  events: readonly Pick<OutboxEvent, 'type' | 'dataJson' | 'shortDataJson' | 'at'>[],
): Parameter[] {
  const eventIds = events.map(() => newId('event', random));
  return [
    eventIds,
    events.map((event, index) => {
      const { head, tail } = eventBody({ ...event, eventId: eventIds[index] ?? '' });
      return `${head}1${tail}`;
    }),
  ];
}
