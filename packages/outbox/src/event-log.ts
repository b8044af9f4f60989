import type { Queryable } from '@florin/pg';
import type { OutboxContext } from './context.ts';
import { eventById } from './event-log.sql.ts';

/** How long events are kept and can be read, in days. */
export const eventLifeDays = 90;

/** Events of this time or earlier are expired, even before housekeeping removes them. */
export function oldestReadable(now: Date): Date {
  return new Date(now.getTime() - eventLifeDays * 24 * 3_600_000);
}

/** The exact body of one event of the owner, and its position in the order of all events. Refuses with event_not_found. */
export async function findEvent(
  queryable: Queryable,
  context: OutboxContext,
  request: { readonly ownerId: string; readonly eventId: string },
): Promise<{ ordinal: bigint; body: string }> {
  const { ownerId, eventId } = request;
  const since = oldestReadable(context.clock.now());
  const [row] = await queryable.query(eventById, { eventId, merchantId: ownerId, createdAfter: since });
  if (row === undefined) throw context.refusal('event_not_found', eventId);
  return row;
}
