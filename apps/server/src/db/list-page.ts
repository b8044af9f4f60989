import { fieldRefusal } from '@florin/protocol/error.ts';

/** Where the pages of a list come from; each part is SQL text of a statement whose first parameter is the merchant. */
export interface PagedList {
  readonly list: 'sessions' | 'events' | 'deliveries' | 'refunds' | 'products' | 'links' | 'exceptions';
  /** The exact total: `listTotal` of what the list is narrowed to. */
  readonly total: string;
  /** Which rows of the table of that name they are; an index must give these by `ordinal desc`. */
  readonly condition: string;
  /** How many rows come before the page. */
  readonly skip: string;
  /** The table's id, and the id of the item behind which the list begins: empty for the newest. */
  readonly after?: { readonly idColumn: string; readonly id: string };
}

/** The exact total of a list that the migration's triggers count, of one facet or of a pattern: `$2`, or `'*'` for all. */
export function listTotal(list: Exclude<PagedList['list'], 'exceptions'>, facet: string): string {
  return `list_total($1, '${list}', ${facet})`;
}

const pastTheEnd = '9223372036854775807';

/**
 * The common tables `place`, with the list's exact `total`, and `first_row`, with the `ordinal` of the page's first row and
 * without a row when the page lies beyond the end. One statement with them sees total and page in one snapshot. A cursor costs
 * a look into the primary key; a page number skips index entries, none beyond the end (docs/decisions/0009). `total` is null for a
 * cursor that names no item.
 */
export function listPlace({ list, total, condition, skip, after }: PagedList): string {
  const edge =
    after === undefined
      ? pastTheEnd
      : `case when ${after.id} = '' then ${pastTheEnd} else (
         select ordinal from ${list} where ${after.idColumn} = ${after.id} and merchant_id = $1) end`;
  return `edge as materialized (
     select ${edge} as ordinal
   ), place as materialized (
     select case when ordinal is not null then ${total} end as total from edge
   ), first_row as materialized (
     select ordinal from ${list} where ${condition} and ordinal < (select ordinal from edge)
       and ${skip} < (select total from place)
     order by ordinal desc offset ${skip} limit 1
   )`;
}

/**
 * How many rows a statement reads for a page of this many: one more, which tells whether there are more. A number that the
 * planner sees makes it plan the statement anew each time, which takes as long as the page itself.
 */
export function pageSize(parameter: string): string {
  return `(select ${parameter}::int8 + 1)`;
}

/** Which page of a merchant's list. */
export interface PageRequest {
  readonly merchantId: string;
  /** From 1. */
  readonly page: number;
  readonly size: number;
  /** The `nextCursor` of the page before: page 1 then begins behind it. */
  readonly after?: string | undefined;
}

/** What every page says of its list. */
export interface ListPage {
  readonly total: number;
  readonly hasMore: boolean;
  /** What `after` takes for the page behind this one; empty on the last page. */
  readonly nextCursor: string;
}

/** The values of a page's statement behind the others: how many rows, how many to skip, and behind which item. */
export function pageValues({ page, size, after = '' }: PageRequest): [number, number, string] {
  return [size, (page - 1) * size, after];
}

/**
 * Reads a page that is joined to its total from the left: an empty page is one row that holds nothing else. Refuses (400101)
 * a cursor that names no item of the merchant.
 */
export function readPage<Listed extends { readonly is_listed: boolean; readonly total: bigint | null }>(
  rows: readonly Listed[],
  size: number,
  idOf: (row: Listed) => string,
): { readonly place: ListPage; readonly rows: readonly Listed[] } {
  const [first] = rows;
  if (first === undefined) throw new Error('a page always comes with its total');
  if (first.total === null) throw fieldRefusal('after', 'names no item of this list');
  const listed = rows.filter((row) => row.is_listed);
  const shown = listed.slice(0, size);
  const last = shown.at(-1);
  const hasMore = listed.length > size;
  const nextCursor = hasMore && last !== undefined ? idOf(last) : '';
  return { place: { total: Number(first.total), hasMore, nextCursor }, rows: shown };
}
