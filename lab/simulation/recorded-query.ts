import { columnTypes } from '@florin/pg';
import type pg from 'pg';

/** A row as PostgreSQL writes it. */
type Fields = readonly (string | null)[];

/** What a statement gave. */
export interface Given {
  readonly rows: readonly Fields[];
  readonly fields: pg.FieldDef[];
  /** What PostgreSQL called it, such as `UPDATE`. */
  readonly command: string;
  /** The rows that it found. */
  readonly count: number;
}

/** What became of a statement. */
export type Outcome = Given | { readonly error: unknown };

const asWritten = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig;

/** Sends a statement to PostgreSQL and keeps the answer as it came. */
export async function record(client: pg.Client, query: pg.QueryConfig): Promise<Outcome> {
  try {
    const answer = await client.query<(string | null)[]>({ ...query, rowMode: 'array', types: asWritten });
    // A text of two statements has an answer for each.
    const last = [answer].flat().at(-1) ?? answer;
    const { fields, command, rowCount } = last;
    return { rows: inSomeOrder(query.text, last.rows), fields, command, count: rowCount ?? 0 };
  } catch (error) {
    return { error };
  }
}

/** The answer as the driver gives it to the service. */
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
 * Without `order by` rows come as they lie in the table, which depends on histories before this one. In an order of
 * their own instead, as SQL allows it.
 */
function inSomeOrder(text: string, rows: readonly Fields[]): readonly Fields[] {
  if (rows.length < 2 || /order by/i.test(text)) return rows;
  return rows
    .map((row) => ({ row, key: JSON.stringify(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ row }) => row);
}
