import {
  type Column,
  type ColumnKind,
  type ColumnKinds,
  type ColumnSpec,
  columnsOf,
} from './column-types.ts';

/**
 * Checked SQL. A statement declares its parameters' and columns' types; TypeScript derives the types of values and rows from
 * them. A test has PostgreSQL describe every statement and compares, so no query can drift from the schema.
 */

export type Element = string | number | bigint | boolean | Date | Uint8Array | null;

/** Values that a statement takes; arrays for unnest. */
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
/** `?` after the kind: the value may be null. Elements of an array always may. */
export type ParameterSpec = ParameterKind | `${ParameterKind}?`;

type ValueOf<Kind> = Kind extends ScalarKind
  ? ScalarKinds[Kind]
  : Kind extends `${infer Element extends ScalarKind}[]`
    ? readonly (ScalarKinds[Element] | null)[]
    : never;

/** What a call gives for named parameters. */
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

/** The values of a statement whose parameters have no names. */
export type Positional = [values?: readonly Parameter[]];

/** A statement; `Arguments` is what a call gives besides it. */
export interface Statement<
  Columns extends Record<string, ColumnSpec> = Record<string, ColumnSpec>,
  Arguments extends readonly unknown[] = Positional,
> {
  readonly name: string;
  /** With positions, as PostgreSQL takes it. */
  readonly text: string;
  readonly parameters: readonly ParameterKind[];
  readonly columns: Columns;
  /** The same in their order, as PostgreSQL describes them. */
  readonly answer: readonly Column[];
  /** Puts the values of a call in the order of the text's positions. */
  readonly positioned: (...values: Arguments) => readonly Parameter[];
}

/** Any statement, to be looked at and not to be asked. */
export type AnyStatement = Statement<Record<string, ColumnSpec>, never>;

/** The row that a statement returns. */
export type Row<S> = S extends Statement<infer Columns, never> ? RowOf<Columns> : never;

const registry = new Map<string, AnyStatement>();

/** A statement with named parameters, as it is written. */
interface NamedDeclaration<Columns, Parameters> {
  /** Unique in the whole program: PostgreSQL caches the plan by it. */
  readonly name: string;
  readonly parameters: Parameters;
  readonly columns: Columns;
  /** SQL in which `:sessionId` stands for the parameter `sessionId`. */
  readonly text: string;
}

/** What a call of a named statement gives: nothing where there are no parameters. */
export type Named<Parameters extends Record<string, ParameterSpec>> =
  Record<string, never> extends Parameters ? [] : [values: ValuesOf<Parameters>];

/**
 * Declares a named prepared statement. Throws for a name that is taken or too long for PostgreSQL, and for a text that does
 * not use exactly the declared parameters.
 */
export function statement<
  const Columns extends Record<string, ColumnSpec>,
  const Parameters extends Record<string, ParameterSpec>,
>(declaration: NamedDeclaration<Columns, Parameters>): Statement<Columns, Named<Parameters>>;
export function statement<const Columns extends Record<string, ColumnSpec>>(
  name: string,
  parameters: readonly ParameterKind[],
  columns: Columns,
  text: string,
): Statement<Columns>;
export function statement<Columns extends Record<string, ColumnSpec>>(
  declaration: string | NamedDeclaration<Columns, Record<string, ParameterSpec>>,
  parameters: readonly ParameterKind[] = [],
  columns?: Columns,
  text = '',
): Statement<Columns, never> {
  if (typeof declaration !== 'string') return register(withNames(declaration));
  if (columns === undefined) throw new Error(`${declaration} declares no columns`);
  const answer = columnsOf(columns);
  return register({
    name: declaration,
    text,
    parameters,
    columns,
    answer,
    positioned: (values = []) => values,
  });
}

function withNames<Columns extends Record<string, ColumnSpec>>({
  name,
  parameters,
  columns,
  text,
}: NamedDeclaration<Columns, Record<string, ParameterSpec>>): Statement<
  Columns,
  [values?: Readonly<Record<string, Parameter>>]
> {
  const names = Object.keys(parameters);
  return {
    name,
    text: positionsFor(name, names, text),
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
}

// A literal, a quoted identifier, a comment, a cast, a position, or a parameter.
const token = /'(?:[^']|'')*'|"[^"]*"|--[^\n]*|::|\$\d+|:([A-Za-z]\w*)/g;

/** The text with a position in place of each name. */
function positionsFor(statementName: string, names: readonly string[], text: string): string {
  const used = new Set<string>();
  const positions = text.replace(token, (found: string, name: string | undefined) => {
    if (found.startsWith('$')) throw new Error(`${statementName} has names and the position ${found}`);
    if (name === undefined) return found;
    const place = names.indexOf(name);
    if (place < 0) throw new Error(`${statementName} does not declare ${found}`);
    used.add(name);
    return `$${place + 1}`;
  });
  const unused = names.find((name) => !used.has(name));
  if (unused !== undefined) throw new Error(`${statementName} does not use :${unused}`);
  return positions;
}

function register<Columns extends Record<string, ColumnSpec>, Arguments extends readonly unknown[]>(
  declared: Statement<Columns, Arguments>,
): Statement<Columns, Arguments> {
  const { name } = declared;
  if (name.length > 63) throw new Error(`statement name too long: ${name}`);
  if (registry.has(name)) throw new Error(`two statements have the name ${name}`);
  registry.set(name, declared);
  return declared;
}

/** All statements declared by the modules imported so far. */
export function declaredStatements(): readonly AnyStatement[] {
  return [...registry.values()];
}
