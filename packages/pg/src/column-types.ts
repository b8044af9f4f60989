import pg from 'pg';

/** The kinds of columns and their TypeScript types. */
export interface ColumnKinds {
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

const typeParsers = new Map<number, (text: string) => unknown>([
  [20, BigInt],
  [1700, BigInt],
  [1016, (text: string) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt))],
]);

/** The parsers of columns: big integers and numerics become bigint. */
export const columnTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return typeParsers.get(oid) ?? pg.types.getTypeParser(oid, format);
  },
} as unknown as pg.CustomTypesConfig;

/** PostgreSQL's fixed numbers of the types (pg_type.dat). */
const oids: Readonly<Record<ColumnKind, number>> = {
  text: 25,
  bool: 16,
  int4: 23,
  int8: 20,
  numeric: 1700,
  jsonb: 3802,
  bytea: 17,
  timestamptz: 1184,
  'text[]': 1009,
  'int8[]': 1016,
};

/** A column of an answer. */
export interface Column {
  readonly name: string;
  /** PostgreSQL's number of its type. */
  readonly oid: number;
}

/** The columns that a statement declares, in order. */
export function columnsOf(declared: Readonly<Record<string, ColumnSpec>>): readonly Column[] {
  return Object.entries(declared).map(([name, spec]) => ({
    name,
    oid: oids[spec.replace('?', '') as ColumnKind],
  }));
}
