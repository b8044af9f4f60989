import { fieldRefusal } from '@florin/protocol/error.ts';
import { type CountedList, type CountedListName, countedLists, valueSeparator } from './counted-list.ts';

/** Where the pages of a list begin. The members are SQL of a statement with the parameter `:merchantId`. */
interface PagePlace {
  readonly table: string;
  /** The exact total: `listTotal` of the part of the list that the condition selects. */
  readonly total: string;
  /** Selects rows of the table. An index must give them by `ordinal desc`. */
  readonly condition: string;
  /** The list begins below this ordinal. */
  readonly below: string;
}

/** A list with pages by number and by cursor, newest first. */
interface PagedList extends Omit<PagePlace, 'below'> {
  /** The id column; a cursor contains the id of an item. */
  readonly id: string;
  /** The select list. */
  readonly columns: string;
  /** Adds columns to the page's rows, which are given as a subquery. It must keep their `ordinal`. */
  readonly shown?: (rows: string) => string;
}

/** The parameters of every page's statement. */
export const pageParameters = { merchantId: 'text', size: 'int8', skip: 'int8', after: 'text' } as const;

/** The columns that every page has besides its own. */
export const pageColumns = { total: 'int8?', is_listed: 'bool' } as const;

/** The exact total of a counted list, for one value or a pattern; `'*'` selects all. */
export function listTotal(list: CountedListName, value: string): string {
  return `list_total(:merchantId, '${list}', ${value})`;
}

/** All rows of a counted list, as a page takes them. */
export function wholeList(list: CountedListName): Omit<PagePlace, 'below'> {
  const { table, condition }: CountedList = countedLists[list];
  const wanted = ['merchant_id = :merchantId', ...(condition === undefined ? [] : [condition])];
  return { table, total: listTotal(list, "'*'"), condition: wanted.join(' and ') };
}

/** The rows of a counted list with the values that the parameter `:values` has of its filters, in their order. */
export function filteredList(list: CountedListName): Omit<PagePlace, 'below'> {
  const { condition, ...whole } = wholeList(list);
  const filters = Object.values<string>(countedLists[list].by);
  const wanted = filters.map((column, index) => `${column} = (:values::text[])[${index + 1}]`);
  const total = listTotal(list, `array_to_string(:values::text[], '${valueSeparator}')`);
  return { ...whole, total, condition: [condition, ...wanted].join(' and ') };
}

export const pastTheEnd = '9223372036854775807';

/**
 * One row more than the page has, which shows whether there are more. With a known limit, PostgreSQL would plan the
 * statement again for each value, which takes as long as the page itself. The subquery prevents that.
 */
export const pageLimit = '(select :size::int8 + 1)';

/**
 * Common tables: `place` has the list's exact `total`, and `first_row` has the `ordinal` of the page's first row. `first_row` is
 * empty for a page beyond the end; `total` is null when `below` is. A statement that uses them sees total and page in one
 * snapshot. A page number skips index entries, but none beyond the end (docs/decisions/0009).
 */
export function pagePlace({ table, total, condition, below }: PagePlace): string {
  return `edge as materialized (
     select ${below} as ordinal
   ), place as materialized (
     select case when ordinal is not null then ${total} end as total from edge
   ), first_row as materialized (
     select ordinal from ${table} where ${condition} and ordinal < (select ordinal from edge)
       and :skip < (select total from place)
     order by ordinal desc offset :skip limit 1
   )`;
}

/** One page with the exact total. `total` is null for a cursor whose item the merchant does not have. */
export function pageText({ id, columns, shown = (rows) => rows, ...list }: PagedList): string {
  const below = `case when :after = '' then ${pastTheEnd} else (
       select ordinal from ${list.table} where ${id} = :after and merchant_id = :merchantId) end`;
  const rows = `select * from ${list.table}
     where ${list.condition} and ordinal <= (select ordinal from first_row)
     order by ordinal desc limit ${pageLimit}`;
  return `with ${pagePlace({ ...list, below })}
   select ${columns}, place.total, ${id} is not null as is_listed
   from place left join lateral (${shown(rows)}) as page on true
   order by page.ordinal desc`;
}

/** The request for a page of a merchant's list. */
export interface ListRequest {
  readonly merchantId: string;
  /** From 1. */
  readonly page: number;
  readonly size: number;
  /** The `nextCursor` of the previous page: page 1 then begins after it. */
  readonly after?: string | undefined;
}

/** The members that every page has. */
export interface ListPage {
  readonly total: number;
  readonly hasMore: boolean;
  /** The value of `after` for the next page; empty on the last page. */
  readonly nextCursor: string;
}

/** The values of `pageParameters`. */
export function pageValues({ merchantId, page, size, after = '' }: ListRequest) {
  return { merchantId, size, skip: (page - 1) * size, after };
}

/**
 * Reads a page that is joined to its total from the left: an empty page is one row with the total only. Refuses
 * (400101) a cursor whose item the merchant does not have.
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
