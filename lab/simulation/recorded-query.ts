import { columnTypes } from '@florin/pg';
import type pg from 'pg';

/** A row in PostgreSQL's text format. */
type Fields = readonly (string | null)[];

/** The answer to a statement. */
export interface Given {
  readonly rows: readonly Fields[];
  readonly fields: pg.FieldDef[];
  /** PostgreSQL's command tag, such as `UPDATE`. */
  readonly command: string;
  /** The number of rows. */
  readonly count: number;
}

/** The outcome of a statement. */
export type Outcome = Given | { readonly error: unknown };

const asWritten = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;

/** Sends a statement to PostgreSQL and records the raw answer. */
export async function record(client: pg.Client, query: pg.QueryConfig): Promise<Outcome> {
  try {
    const answer = await client.query<(string | null)[]>({ ...query, rowMode: 'array', types: asWritten });
    // A text with two statements has one answer for each.
    const last = [answer].flat().at(-1) ?? answer;
    const { fields, command, rowCount } = last;
    return { rows: inSomeOrder(query.text, last.rows), fields, command, count: rowCount ?? 0 };
  } catch (error) {
    return { error };
  }
}

/** Converts the answer to the driver's result for the service. */
export function resultOf({ rows, fields, command, count }: Given): pg.QueryResult {
  const columns = fields.map(({ name, dataTypeID }) => ({
    name,
    parse: columnTypes.getTypeParser(dataTypeID),
  }));
  const parsed = rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name, parse }, place) => {
        const text = row[place] ?? null;
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
function inSomeOrder(text: string, rows: readonly Fields[]): readonly Fields[] {
  if (rows.length < 2 || /order by/i.test(text)) return rows;
  return rows
    .map((row) => ({ row, key: JSON.stringify(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ row }) => row);
}
