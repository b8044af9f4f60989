import { columnTypes } from '@florin/pg';
import pg from 'pg';

/** A row in PostgreSQL's text format. */
type Fields = readonly (string | null)[];

/** The answer to a statement. */
export interface RawResult {
  readonly rows: readonly Fields[];
  readonly fields: pg.FieldDef[];
  /** PostgreSQL's command tag, such as `UPDATE`. */
  readonly command: string;
  /** The number of rows. */
  readonly count: number;
}

/** The outcome of a statement. */
export type Outcome = RawResult | { readonly error: unknown };

/** Statements that each connection has prepared, so that they can be sent in one message with the next statement. */
export const prepared = {
  begin: { name: 'simulation_begin', text: 'begin' },
  commit: { name: 'simulation_commit', text: 'commit' },
} as const;
type Prepared = keyof typeof prepared;

/** A statement that keeps the answer as PostgreSQL wrote it. The driver's own query parses it, which costs more. */
class RawQuery extends pg.Query {
  readonly #before: readonly Prepared[];
  readonly #rows: Fields[] = [];
  #fields: pg.FieldDef[] = [];
  #tag = '';

  constructor(query: pg.QueryConfig, before: readonly Prepared[], onOutcome: (outcome: Outcome) => void) {
    super(query.text, query.values ?? []);
    this.#before = before;
    const callback = (error?: Error) => onOutcome(error ? { error } : this.#result(query.text));
    Object.assign(this, { name: query.name, callback });
  }

  override submit = (connection: pg.Connection): void => {
    connection.stream.cork();
    for (const each of this.#before) {
      connection.bind({ statement: prepared[each].name }, true);
      connection.execute({}, true);
    }
    pg.Query.prototype.submit.call(this, connection);
    connection.stream.uncork();
  };

  handleRowDescription({ fields }: { readonly fields: pg.FieldDef[] }): void {
    this.#fields = fields;
  }

  handleDataRow({ fields }: { readonly fields: Fields }): void {
    this.#rows.push(fields);
  }

  /** The last answer counts, of several statements that were sent together. */
  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#tag = text;
  }

  #result(text: string): RawResult {
    const [command = '', ...counts] = this.#tag.split(' ');
    const rows = sortedUnlessOrdered(text, this.#rows);
    return { rows, fields: this.#fields, command, count: Number(counts.at(-1) ?? 0) };
  }
}

/** Sends a statement to PostgreSQL, with others before it, and records the raw answer of the last one. */
export function runRaw(
  client: pg.Client,
  query: pg.QueryConfig,
  before: readonly Prepared[] = [],
): Promise<Outcome> {
  return new Promise((resolve) => client.query(new RawQuery(query, before, resolve)));
}

/** Converts the answer to the driver's result for the service. */
export function resultOf({ rows, fields, command, count }: RawResult): pg.QueryResult {
  const columns = fields.map(({ name, dataTypeID }) => ({
    name,
    parse: columnTypes.getTypeParser(dataTypeID),
  }));
  const parsed = rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name, parse }, index) => {
        const text = row[index] ?? null;
        return [name, text === null ? null : parse(text)];
      }),
    ),
  );
  return { rows: parsed, fields, command, rowCount: count, oid: 0 };
}

/**
 * Without `order by`, rows come in their order in the table, which depends on earlier histories. Sorting them is
 * allowed by SQL and makes the order repeatable.
 */
function sortedUnlessOrdered(text: string, rows: readonly Fields[]): readonly Fields[] {
  if (rows.length < 2 || /order by/i.test(text)) return rows;
  return rows
    .map((row) => ({ row, key: JSON.stringify(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ row }) => row);
}
