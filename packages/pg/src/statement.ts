/**
 * Checked SQL. A statement declares its parameters' and columns' types; TypeScript derives the row type from them,
 * and a test has PostgreSQL describe every statement and compares. So a query cannot drift from the schema.
 */

interface ColumnKinds {
  text: string;
  bool: boolean;
  int4: number;
  int8: bigint;
  numeric: bigint;
  jsonb: unknown;
  bytea: Buffer;
  timestamptz: Date;
  'text[]': string[];
  'int8[]': bigint[];
}

export type ColumnKind = keyof ColumnKinds;
/** `?` after the kind: the column may be null. */
export type ColumnSpec = ColumnKind | `${ColumnKind}?`;
/** Parameters besides: arrays for unnest, and uuid-like casts are not used. */
export type ParameterKind =
  | ColumnKind
  | 'int4[]'
  | 'bool[]'
  | 'numeric[]'
  | 'jsonb[]'
  | 'bytea[]'
  | 'timestamptz[]';

export type RowOf<Columns extends Record<string, ColumnSpec>> = {
  [Name in keyof Columns]: Columns[Name] extends `${infer Kind extends ColumnKind}?`
    ? ColumnKinds[Kind] | null
    : Columns[Name] extends ColumnKind
      ? ColumnKinds[Columns[Name]]
      : never;
};

export interface Statement<Columns extends Record<string, ColumnSpec> = Record<string, ColumnSpec>> {
  readonly name: string;
  readonly text: string;
  readonly parameters: readonly ParameterKind[];
  readonly columns: Columns;
}

/** The row that a statement returns. */
export type Row<S> = S extends Statement<infer Columns> ? RowOf<Columns> : never;

const registry = new Map<string, Statement>();

/** Declares a named prepared statement. The name is unique in the whole program (PostgreSQL caches the plan by it). */
export function statement<const Columns extends Record<string, ColumnSpec>>(
  name: string,
  parameters: readonly ParameterKind[],
  columns: Columns,
  text: string,
): Statement<Columns> {
  if (name.length > 63) throw new Error(`statement name too long: ${name}`);
  if (registry.has(name)) throw new Error(`two statements have the name ${name}`);
  const declared: Statement<Columns> = { name, text, parameters, columns };
  registry.set(name, declared as unknown as Statement);
  return declared;
}

/** All statements declared by the modules imported so far; the checked-sql test walks them. */
export function declaredStatements(): readonly Statement[] {
  return [...registry.values()];
}
