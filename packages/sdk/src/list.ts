import type { CallOptions, OperationInput, Send } from './client.ts';
import { FlorinError, wrongArgument } from './error.ts';
import type { ListFilter, Operations } from './wire.gen.ts';

/** One answer of a list. */
export interface ItemPage<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  /** What `after` takes to go on behind this page; empty on the last one. */
  readonly nextCursor: string;
}

/**
 * Entries of the service, read page by page while they are used. Each appears once, also while new ones arrive.
 *
 * @example for await (const { session } of florin.sessions.list({ status: 'paid' })) …
 */
export interface List<Item> extends AsyncIterable<Item> {
  /** The first page alone: one request. */
  page(): Promise<ItemPage<Item>>;
  /** The pages, one request each. */
  pages(): AsyncIterable<ItemPage<Item>>;
  /** The first `limit` entries. */
  toArray(options: { readonly limit: number }): Promise<Item[]>;
}

/** Entries of a page unless the caller wants fewer: the most that the service gives. */
const defaultPageSize = 100;

/** A page, and what `read` is called with for the page behind it; undefined on the last one. */
export type ReadPage<Item, Next> = readonly [page: ItemPage<Item>, next: Next | undefined];

/** A list whose pages `read` gets. */
export function listOf<Item, Next>(
  read: (next: Next | undefined) => Promise<ReadPage<Item, Next>>,
): List<Item> {
  async function* pages(): AsyncGenerator<ItemPage<Item>> {
    let next: Next | undefined;
    do {
      const [page, following] = await read(next);
      yield page;
      next = following;
    } while (next !== undefined);
  }
  async function* entries(): AsyncGenerator<Item> {
    for await (const { items } of pages()) yield* items;
  }
  return {
    page: async () => (await read(undefined))[0],
    pages,
    [Symbol.asyncIterator]: entries,
    async toArray(options) {
      const { limit }: { readonly limit?: number } = Object(options);
      if (limit === undefined || !Number.isSafeInteger(limit) || limit < 0)
        throw wrongArgument('limit', 'toArray() takes a limit: toArray({ limit: 100 })');
      const items: Item[] = [];
      if (limit < 1) return items;
      for await (const item of entries()) if (items.push(item) >= limit) break;
      return items;
    },
  };
}

/** Where an operation of a list takes its filter, and where its entries are in the answer; '' where the answer is the list. */
export interface ListWire {
  readonly items: string;
  readonly params?: object;
  readonly filter?: ListFilter | undefined;
  readonly body?: ListFilter | undefined;
}

/** What a list was given. Refuses what is no object, such as a number of entries: it would be ignored. */
export function filterOf<Filter extends ListFilter>(given: Filter | undefined): Partial<Filter> {
  if (given !== undefined && typeof given !== 'object')
    throw wrongArgument('filter', `give an object, such as { size: 20 }, not a ${typeof given}`);
  return given ?? {};
}

/** The entries that an operation answers, by cursor. */
export function openList<Item>(
  send: Send,
  id: keyof Operations,
  list: ListWire,
  options?: CallOptions,
  each: (item: Item) => Item = (item) => item,
): List<Item> {
  const { size = defaultPageSize, after: first, ...others } = filterOf(list.body ?? list.filter);
  return listOf<Item, string>(async (cursor) => {
    const after = cursor ?? first;
    const input =
      'body' in list
        ? { body: { ...others, size, after } }
        : { params: { ...list.params, page: 1, size }, query: { ...others, after } };
    // The generated methods name an operation and what it takes.
    const found = pageOf<Item>(await send(id, input as OperationInput<typeof id>, options), list.items);
    const page = { ...found, items: found.items.map((item) => each(item)) };
    // Without a new cursor the same page would come for ever.
    if (page.hasMore && (page.nextCursor === '' || page.nextCursor === after))
      throw new FlorinError('answer_invalid', 'a page has more behind it, and no new cursor');
    return [page, page.hasMore ? page.nextCursor : undefined];
  });
}

/** The page in an answer. */
export function pageOf<Item>(reply: unknown, name: string): ItemPage<Item> {
  const { [name]: member, hasMore, nextCursor } = Object(reply) as Readonly<Record<string, unknown>>;
  const found = name === '' ? reply : member;
  if (!Array.isArray(found)) throw new FlorinError('answer_invalid', 'a list without entries');
  return {
    items: found as Item[],
    hasMore: hasMore === true,
    nextCursor: typeof nextCursor === 'string' ? nextCursor : '',
  };
}
