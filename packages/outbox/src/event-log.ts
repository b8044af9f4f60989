import type { Queryable } from '@florin/pg';
import type { OutboxContext } from './context.ts';
import { eventById } from './event-log.sql.ts';

/** How long events are kept and can be read, in days. */
export const eventLifeDays = 90;

/** Events of this time or earlier are not read any more, even before housekeeping removes them. */
export function oldestReadable(now: Date): Date {
  return new Date(now.getTime() - eventLifeDays * 24 * 3_600_000);
}

/** One event of the owner: its exact body, and its place in the order in which events were written. Or event_not_found. */
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
