/** A list whose total triggers count: as a whole, and for each value of its filters. */
export interface CountedList {
  readonly table: string;
  /** Which of the table's rows the list has; all when absent. */
  readonly condition?: string;
  /** The filters that a request gives together, each with its column; none when only the whole is counted. */
  readonly by: Readonly<Record<string, string>>;
  /** No update changes a row's values, or puts it into the list or out of it: updates need not be counted. */
  readonly isFixed?: true;
}

/**
 * Every list that is counted. A filter needs one entry here: `npm run generate` writes the migrations that count its rows, and
 * its page follows. Filters that come together are one entry with all of them. The columns of `by` are not null, and their
 * values have neither a space nor `*`: totals are stored by these values. Each entry costs every writer of the table, and an
 * index.
 */
export const countedLists = {
  sessions: { table: 'sessions', by: { status: 'status' } },
  events: { table: 'events', condition: "body <> ''", by: { type: 'event_type' } },
  deliveries: { table: 'deliveries', by: { webhookId: 'webhook_id' }, isFixed: true },
  refunds: { table: 'refunds', by: {}, isFixed: true },
  products: { table: 'products', condition: "status <> 'removed'", by: {} },
  links: { table: 'links', condition: "status <> 'deleted'", by: {} },
} as const satisfies Readonly<Record<string, CountedList>>;

export type CountedListName = keyof typeof countedLists;
const names = Object.keys(countedLists) as readonly CountedListName[];

/** Between the values of several filters, as totals are stored. */
export const valueSeparator = ' ';

type FilterOf<List, Table> = List extends { readonly table: Table; readonly by: infer By }
  ? keyof By & string
  : never;
/** What the lists of a table can be asked by. */
export type FiltersOf<Table extends string> = {
  readonly [Filter in FilterOf<(typeof countedLists)[CountedListName], Table>]?: string | undefined;
};

export function listsOf(table: string): readonly CountedListName[] {
  return names.filter((name) => countedLists[name].table === table);
}

/** The list that is counted by just these filters, with their values in its order. Without filters there is none. */
export function chooseList(
  table: string,
  filters: Readonly<Record<string, string | undefined>>,
): { readonly list: CountedListName; readonly values: readonly string[] } | undefined {
  const given = Object.keys(filters).filter((name) => filters[name] !== undefined);
  if (given.length === 0) return undefined;
  const list = listsOf(table).find((name) => {
    const own = Object.keys(countedLists[name].by);
    return own.length === given.length && given.every((each) => own.includes(each));
  });
  if (list === undefined) throw new Error(`no list of ${table} is counted by ${given.join(' and ')}`);
  return { list, values: Object.keys(countedLists[list].by).map((name) => filters[name] ?? '') };
}
