import type { Parameter, Transaction } from '@florin/pg';
import type { EventType } from '@florin/protocol/event.ts';
import { newId } from '@florin/protocol/id.ts';
import type { Random } from '#outside/random.ts';
import { eventBody } from './event-body.ts';
import { insertEvents, patternOf } from './outbox.sql.ts';

// For rooms that write their events in their own statement, in one round trip with the business change.
export { firstEventColumns, firstEventWrites, outboxWake } from './outbox.sql.ts';

/** Something that happened to one object, as its merchant's webhooks will hear it. */
export interface OutboxEvent {
  readonly merchantId: string;
  readonly type: EventType;
  /** The session, product, link, account or webhook that the event is about. */
  readonly objectId: string;
  /** What the matching read returned when it happened, as JSON text. */
  readonly dataJson: string;
  /** The same with less in it, for a body over 64 KiB. */
  readonly shortDataJson?: (() => string) | undefined;
  readonly at: Date;
}

/**
 * Writes events and their deliveries in the business transaction: whatever commits is sent at least once, whatever
 * rolls back is never sent. Sequences count per object from 1; the caller holds the object's row lock, or has just
 * inserted it. Nobody waits for them: they travel with what the transaction does next, or with its commit.
 */
export async function emit(
  transaction: Transaction,
  random: Random,
  events: readonly OutboxEvent[],
): Promise<void> {
  if (events.length > 0) transaction.write(insertEvents, incomingEventValues(random, events));
}

/** The nine array parameters of the insert: new ids, bodies around their sequence, subscription patterns. */
function incomingEventValues(random: Random, events: readonly OutboxEvent[]): Parameter[] {
  const randomBytes = (size: number) => random.bytes(size);
  const eventIds = events.map(() => newId('event', randomBytes));
  const bodies = events.map((event, index) => eventBody({ ...event, eventId: eventIds[index] ?? '' }));
  return [
    eventIds,
    events.map((event) => event.merchantId),
    events.map((event) => event.type),
    events.map((event) => patternOf(event.type)),
    events.map((event) => event.objectId),
    bodies.map((body) => body.head),
    bodies.map((body) => body.tail),
    events.map(() => newId('delivery', randomBytes).slice(0, -1)),
    events.map((event) => event.at),
  ];
}

/** Values of `firstEventColumns`: the events with which new objects begin, one for each. */
export function firstEventValues(
  random: Random,
  events: readonly Pick<OutboxEvent, 'type' | 'dataJson' | 'shortDataJson' | 'at'>[],
): Parameter[] {
  const randomBytes = (size: number) => random.bytes(size);
  const eventIds = events.map(() => newId('event', randomBytes));
  return [
    eventIds,
    events.map((event, index) => {
      const { head, tail } = eventBody({ ...event, eventId: eventIds[index] ?? '' });
      return `${head}1${tail}`;
    }),
  ];
}
