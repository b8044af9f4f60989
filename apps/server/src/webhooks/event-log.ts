import { findEvent, type OutboxContext, oldestReadable } from '@florin/outbox';
import type { Queryable, Row } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { eventTypes, isSubscription, subscriptionTakes } from '@florin/protocol/event.ts';
import { readPage } from '#db/list-page.ts';
import * as sql from './event-log.sql.ts';

/**
 * One page of the merchant's events, as the texts that webhooks get, with the exact total: newest first, or the events after
 * `after`, oldest first. The texts come in portions of limited size, each of which is read when it is needed. Refuses an unknown
 * type (100504) and an unknown `after` (100506).
 */
export async function listEvents(
  queryable: Queryable,
  context: OutboxContext,
  request: {
    readonly merchantId: string;
    /** A type or a pattern, as in subscribedEvents. */
    readonly type?: string | undefined;
    readonly after?: string | undefined;
    readonly page: number;
    readonly size: number;
  },
): Promise<{ total: number; hasMore: boolean; portions: AsyncIterable<readonly string[]> }> {
  const { merchantId, type = '*', after, page, size } = request;
  if (!isSubscription(type)) throw new Refusal('event_type_unknown', { param: 'type', detail: type });
  const types = eventTypes.filter((candidate) => subscriptionTakes(type, candidate));
  const window = { merchantId, oldest: oldestReadable(context.clock.now()), size, skip: (page - 1) * size };
  if (after === undefined) {
    const rows = await (type === '*'
      ? queryable.query(sql.selectEventPage, window)
      : queryable.query(sql.eventPageOfTypes, { ...window, facet: type, types }));
    return pageOf(queryable, request, rows);
  }
  const { ordinal } = await findEvent(queryable, context, { ownerId: merchantId, eventId: after });
  const rows = await queryable.query(sql.eventPageAfter, {
    ...window,
    facet: type,
    types,
    afterOrdinal: ordinal,
  });
  return pageOf(queryable, request, rows);
}

function pageOf(
  queryable: Queryable,
  { merchantId, size }: { readonly merchantId: string; readonly size: number },
  found: readonly Row<typeof sql.selectEventPage>[],
) {
  const { place, rows } = readPage(found, size, (row) => row.ordinal.toString());
  return { total: place.total, hasMore: place.hasMore, portions: portionsOf(queryable, merchantId, rows) };
}

/** Events that housekeeping removes between two portions are left out. */
async function* portionsOf(
  queryable: Queryable,
  merchantId: string,
  rows: readonly Row<typeof sql.selectEventPage>[],
): AsyncGenerator<readonly string[]> {
  const bodies = rows.flatMap(({ body }) => body ?? []);
  if (bodies.length > 0) yield bodies;
  let left = rows.slice(bodies.length).map(({ ordinal }) => ordinal);
  while (left.length > 0) {
    const read = await queryable.query(sql.eventBodies, { merchantId, ordinals: left });
    const last = read.at(-1);
    if (last === undefined) return;
    yield read.map(({ body }) => body);
    left = left.slice(left.indexOf(last.ordinal) + 1);
  }
}
