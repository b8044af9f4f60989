import {
  type Column,
  type ColumnKind,
  type ColumnKinds,
  type ColumnSpec,
  columnsOf,
} from './column-types.ts';

/**
 * Checked SQL. A statement declares the types of its parameters and columns. TypeScript derives the types of values
 * and rows from them. A test compares every declaration with PostgreSQL's description of the statement.
 */

export type Element = string | number | bigint | boolean | Date | Uint8Array | null;

/** A value of a parameter; arrays are for unnest. */
export type Parameter = Element | readonly Element[];

interface ScalarKinds {
  text: string;
  bool: boolean;
  int4: number;
  int8: bigint | number;
  numeric: bigint | number;
  /** The JSON text. */
  jsonb: string;
  bytea: Uint8Array;
  timestamptz: Date;
}

type ScalarKind = keyof ScalarKinds;
export type ParameterKind = ScalarKind | `${ScalarKind}[]`;
/** `?` after the kind: the value may be null. Array elements always may. */
export type ParameterSpec = ParameterKind | `${ParameterKind}?`;

type ValueOf<Kind> = Kind extends ScalarKind
  ? ScalarKinds[Kind]
  : Kind extends `${infer Element extends ScalarKind}[]`
    ? readonly (ScalarKinds[Element] | null)[]
    : never;

/** The parameter values of a call. */
export type ValuesOf<Parameters extends Record<string, ParameterSpec>> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends `${infer Kind extends ParameterKind}?`
    ? ValueOf<Kind> | null
    : ValueOf<Parameters[Name]>;
};

export type RowOf<Columns extends Record<string, ColumnSpec>> = {
  [Name in keyof Columns]: Columns[Name] extends `${infer Kind extends ColumnKind}?`
    ? ColumnKinds[Kind] | null
    : Columns[Name] extends ColumnKind
      ? ColumnKinds[Columns[Name]]
      : never;
};

/** A statement; `Arguments` are the other arguments of a call. */
export interface Statement<
  Columns extends Record<string, ColumnSpec> = Record<string, ColumnSpec>,
  Arguments extends readonly unknown[] = never,
> {
  readonly name: string;
  /** The text with positions, as PostgreSQL takes it. */
  readonly text: string;
  readonly parameters: readonly ParameterKind[];
  readonly columns: Columns;
  /** The columns in PostgreSQL's order. */
  readonly answer: readonly Column[];
  /** Puts the values of a call in the order of the positions. Throws for a missing value. */
  readonly positioned: (...values: Arguments) => readonly Parameter[];
}

/** The row that a statement returns. */
export type Row<S> = S extends Statement<infer Columns> ? RowOf<Columns> : never;

/** The arguments of a call besides its statement: none where there are no parameters. */
type NamedValues<Parameters extends Record<string, ParameterSpec>> =
  Record<string, never> extends Parameters ? [] : [values: ValuesOf<Parameters>];

const registry = new Map<string, Statement>();

/**
 * Declares a prepared statement. Throws for a name that is taken or too long for PostgreSQL, and for a text that does
 * not use exactly the declared parameters.
 */
export function statement<
  const Columns extends Record<string, ColumnSpec> = Record<never, never>,
  const Parameters extends Record<string, ParameterSpec> = Record<never, never>,
>(declaration: {
  /** Unique in the whole program: PostgreSQL caches the plan by it. */
  readonly name: string;
  /** Absent: it takes none. */
  readonly parameters?: Parameters;
  /** Absent: it returns none. */
  readonly columns?: Columns;
  /** SQL in which `:sessionId` stands for the parameter `sessionId`. */
  readonly text: string;
}): Statement<Columns, NamedValues<Parameters>> {
  const { name, text } = declaration;
  const parameters: Record<string, ParameterSpec> = declaration.parameters ?? {};
  const columns = declaration.columns ?? ({} as Columns);
  if (name.length > 63) throw new Error(`statement name too long: ${name}`);
  if (registry.has(name)) throw new Error(`two statements have the name ${name}`);
  const names = Object.keys(parameters);
  const declared: Statement<Columns, [values?: Readonly<Record<string, Parameter>>]> = {
    name,
    text: withPositions(name, names, text),
    parameters: Object.values(parameters).map((spec) => spec.replace('?', '') as ParameterKind),
    columns,
    answer: columnsOf(columns),
    positioned: (values = {}) =>
      names.map((parameter) => {
        const value = values[parameter];
        if (value === undefined) throw new Error(`${name} lacks a value for ${parameter}`);
        return value;
      }),
  };
  registry.set(name, declared);
  return declared as Statement<Columns, NamedValues<Parameters>>;
}

// A literal, a quoted identifier, a comment, a cast, a position, or a parameter.
const token = /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|::|\$\d+|:([A-Za-z]\w*)/g;

/** The text with a position in place of each name. */
function withPositions(statementName: string, names: readonly string[], text: string): string {
  const used = new Set<string>();
  const positions = text.replace(token, (found: string, name: string | undefined) => {
    if (found.startsWith('$')) throw new Error(`${statementName} has the position ${found}: give it a name`);
    if (name === undefined) return found;
    const index = names.indexOf(name);
    if (index < 0) throw new Error(`${statementName} does not declare ${found}`);
    used.add(name);
    return `$${index + 1}`;
  });
  const unused = names.find((name) => !used.has(name));
  if (unused !== undefined) throw new Error(`${statementName} does not use :${unused}`);
  return positions;
}

/** All statements declared by the modules imported so far. */
export function declaredStatements(): readonly Statement[] {
  return [...registry.values()];
}
