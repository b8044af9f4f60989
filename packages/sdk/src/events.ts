import { refuseUnknown } from './argument.ts';
import type { CallOptions, Send } from './client.ts';
import { FlorinError } from './error.ts';
import { type ItemPage, type List, listOf, pageOf } from './list.ts';
import { type EventType, eventTypes, type FlorinEvent } from './wire.gen.ts';

/** Which events a list has. */
export interface EventFilter {
  /** A type, or a pattern such as `session.*`. */
  readonly type?: EventType | `${string}*` | undefined;
  /** The id of an event: the list then has later events, oldest first. Without it: newest first. */
  readonly after?: string | undefined;
  /** Entries of one page: 1 to 100, the default. */
  readonly size?: number | undefined;
}

export interface Events {
  /** One event of the last 90 days. Refused with `event_not_found`. */
  retrieve(eventId: string, options?: CallOptions): Promise<FlorinEvent>;
  /**
   * The events of the last 90 days, newest first; with `after` the later ones, oldest first. Refused with
   * `event_not_found`, `event_type_unknown`.
   */
  list(filter?: EventFilter, options?: CallOptions): List<FlorinEvent>;
}

const filterNames = ['type', 'after', 'size'] as const satisfies readonly (keyof EventFilter)[];
const defaultPageSize = 100;
/** New events move others to the next page. So many earlier events are remembered, in order to leave them out there. */
const rememberedIds = 1_000;

export function eventsOf(send: Send): Events {
  return {
    retrieve: async (eventId, options) =>
      parseEvent(await send('getEvent', { params: { eventId } }, options)),
    list(filter, options) {
      refuseUnknown(filter, filterNames);
      const { type, after, size = defaultPageSize }: EventFilter = Object(filter);
      const read = async (page: number, after: string | undefined): Promise<ItemPage<FlorinEvent>> => {
        const query = { type, after };
        const found = pageOf<unknown>(
          await send('listEvents', { params: { page, size }, query }, options),
          'events',
        );
        return { ...found, items: found.items.map(parseEvent) };
      };
      return after === undefined
        ? newestFirst((page) => read(page, undefined))
        : laterThan(after, (id) => read(1, id));
    },
  };
}

function laterThan(
  first: string,
  read: (after: string) => Promise<ItemPage<FlorinEvent>>,
): List<FlorinEvent> {
  return listOf<FlorinEvent, string>(async (after = first) => {
    const page = await read(after);
    const last = page.items.at(-1)?.id;
    return [{ ...page, nextCursor: last ?? '' }, page.hasMore ? last : undefined];
  });
}

/** Pages have numbers and no cursor here, so that an event can stand on two of them. */
function newestFirst(read: (page: number) => Promise<ItemPage<FlorinEvent>>): List<FlorinEvent> {
  return listOf<FlorinEvent, { readonly page: number; readonly seen: readonly string[] }>(
    async ({ page, seen } = { page: 1, seen: [] }) => {
      const { items, hasMore } = await read(page);
      const fresh = items.filter(({ id }) => !seen.includes(id));
      const ids = [...seen, ...fresh.map(({ id }) => id)].slice(-rememberedIds);
      return [{ items: fresh, hasMore, nextCursor: '' }, hasMore ? { page: page + 1, seen: ids } : undefined];
    },
  );
}

/** Reads an event. One of a newer type becomes `unknown`, so that the known ones narrow. Throws FlorinError (webhook_malformed). */
export function parseEvent(value: unknown): FlorinEvent {
  const { id, type, data } = Object(value) as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || typeof type !== 'string' || data === undefined)
    throw new FlorinError('webhook_malformed', 'this is no event: it has no id, no type or no data');
  if ((eventTypes as readonly string[]).includes(type)) return value as FlorinEvent;
  return { ...(value as FlorinEvent & { type: 'unknown' }), type: 'unknown', unknownType: type };
}
