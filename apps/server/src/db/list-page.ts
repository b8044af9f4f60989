/** Where the pages of a list come from; each part is SQL text of a statement whose first parameter is the merchant. */
export interface PagedList {
  /** The name by which the migration's triggers count the list. */
  readonly list: 'sessions' | 'events' | 'deliveries' | 'refunds' | 'products' | 'links';
  /** What the list is narrowed to: a value such as `$2`, or `'*'` for all. */
  readonly facet: string;
  /** Which rows of the table of that name they are; an index must give these by `ordinal desc`. */
  readonly condition: string;
  /** How many rows come before the page. */
  readonly skip: string;
  /** Ordinals of rows that are counted and not to be shown. */
  readonly hidden?: string;
}

/**
 * The common tables `place`, with the list's exact `total`, and `first_row`, with the `ordinal` of the page's first row
 * and without a row when the page lies beyond the end. One statement with them sees total and page in one snapshot, at
 * the price of a page by its first key, whatever its number (docs/decisions/0009).
 */
export function listPlace({ list, facet, condition, skip, hidden = "'{}'" }: PagedList): string {
  return `place as materialized (
     select total, below, rest from list_place($1, '${list}', ${facet}, ${skip}, ${hidden})
   ), first_row as materialized (
     select ordinal from ${list} where ${condition} and ordinal < (select below from place)
     order by ordinal desc offset (select rest from place) limit 1
   )`;
}

/**
 * How many rows a page has, for its limit. A number that the planner sees makes it plan the statement anew each time,
 * which takes as long as the page itself.
 */
export function pageSize(parameter: string): string {
  return `(select ${parameter}::int8)`;
}

/** The rows of a page that is joined to its total from the left: an empty page is one row that holds nothing else. */
export function listedRows<ListedRow extends { readonly is_listed: boolean }>(
  rows: readonly ListedRow[],
): ListedRow[] {
  return rows.filter((row) => row.is_listed);
}

/** The exact total of a list, from the rows of any of its pages. */
export function listTotal(rows: readonly { readonly total: bigint }[]): number {
  const [first] = rows;
  if (first === undefined) throw new Error('a page always comes with its total');
  return Number(first.total);
}
