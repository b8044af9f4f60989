import pg from 'pg';
import type { Column } from './column-types.ts';

type Row = Record<string, unknown>;

/** A named statement with its values as the wire takes them. */
export interface NamedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
  /** How its answer is read; undefined: nobody reads it. */
  readonly columns?: readonly Column[];
}

/** What became of the statements of a packet. */
export interface Answers {
  /** The rows of those that were executed, in their order. */
  readonly rows: readonly (readonly Row[])[];
  /** What PostgreSQL called the last of those, such as `COMMIT`. */
  readonly command: string;
  /** Why there are not more; undefined when all were executed. */
  readonly failure: unknown;
}

/** The driver's bookkeeping of one connection, as custom queries like its own pg-cursor use it. */
interface DriverConnection {
  readonly stream: { cork(): void; uncork(): void };
  readonly parsedStatements: Record<string, string>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(message: { name: string; text: string }): void;
  describe(message: { type: 'S'; name: string }): void;
  bind(message: { statement: string; values: unknown[] }): void;
  execute(message: object): void;
  sync(): void;
}

/** The driver's own query, with the methods that its type declarations leave out. */
interface DriverQuery {
  name: string;
  text: string;
  callback: (error: unknown) => void;
  submit(connection: DriverConnection): Error | null;
  handleRowDescription(message: { readonly fields: readonly Field[] }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(message: { readonly text: string }): void;
  handleError(error: Error, connection: DriverConnection): void;
  handleReadyForQuery(): void;
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

const BaseQuery = pg.Query as unknown as new (text: string) => DriverQuery;
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): unknown } }).utils;

/** Begins a transaction, in READ COMMITTED as the server is delivered. */
export const begin: NamedQuery = { name: 'pg_begin', text: 'begin', values: [] };
export const commit: NamedQuery = { name: 'pg_commit', text: 'commit', values: [] };

/** Narrows what follows to one scope, until the transaction ends. */
export function narrowing(setting: string, value: string): NamedQuery {
  return { name: 'pg_narrow', text: `select set_config('${setting}', $1, true)`, values: [value] };
}

/** Statements whose rows have been found to look as declared, for each connection. */
const checkedStatements = new WeakMap<DriverConnection, Set<string>>();

function checkedOn(connection: DriverConnection): Set<string> {
  const known = checkedStatements.get(connection);
  if (known !== undefined) return known;
  const checked = new Set<string>();
  checkedStatements.set(connection, checked);
  return checked;
}

/**
 * Statements that travel together, in one round trip. All are executed before one Sync: where one fails, those behind it are
 * not executed at all, a commit among them neither. Without a begin among them they are one transaction together. What rows
 * look like is asked for until they once came on this connection as they are declared: a connection may know a statement
 * from elsewhere.
 */
export class Packet extends BaseQuery {
  readonly queries: readonly NamedQuery[];
  readonly #values: readonly unknown[][];
  readonly #rows: Row[][] = [];
  readonly #parsed = new Set<string>();
  #checked: Set<string> | undefined;
  /** Which of the statements is being answered. */
  #place = 0;
  #current: Row[] = [];
  #fault: Error | undefined;
  #command = '';

  constructor(queries: readonly NamedQuery[]) {
    super('packet');
    this.queries = queries;
    // Before anything is sent: a value that cannot be written must not leave half a packet on the wire.
    this.#values = queries.map(({ values }) => values.map(prepareValue));
    this.#expectNext();
  }

  answers(failure: unknown): Answers {
    return { rows: this.#rows, command: this.#command, failure };
  }

  override submit(connection: DriverConnection): Error | null {
    const checked = checkedOn(connection);
    this.#checked = checked;
    connection.stream.cork();
    try {
      for (const [place, { name, text, columns }] of this.queries.entries()) {
        if ((connection.parsedStatements[name] ?? connection.submittedNamedStatements[name]) === undefined) {
          connection.parse({ name, text });
          connection.submittedNamedStatements[name] = text;
          this.#parsed.add(name);
        }
        if (columns !== undefined && !checked.has(name)) connection.describe({ type: 'S', name });
        connection.bind({ statement: name, values: this.#values[place] ?? [] });
        connection.execute({});
      }
      connection.sync();
      return null;
    } finally {
      connection.stream.uncork();
    }
  }

  override handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const columns = this.queries[this.#place]?.columns ?? [];
    const isAsDeclared = columns.every(
      ({ name, oid }, place) => fields[place]?.name === name && fields[place].dataTypeID === oid,
    );
    if (!isAsDeclared || fields.length !== columns.length)
      this.#fault ??= new Error(`${this.name} gives other columns than it declares`);
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const columns = this.queries[this.#place]?.columns;
    if (columns === undefined || this.#fault !== undefined) return;
    const row: Row = {};
    try {
      for (const [place, { name, parse }] of columns.entries()) {
        const text = fields[place] ?? null;
        row[name] = text === null ? null : parse(text);
      }
    } catch (error) {
      // Thrown here, it would end in the driver's socket.
      this.#fault = error instanceof Error ? error : new Error(String(error));
    }
    this.#current.push(row);
  }

  override handleCommandComplete({ text }: { readonly text: string }): void {
    this.#command = text;
    // What cannot be read counts as not answered, with all behind it.
    if (this.#fault === undefined) {
      this.#rows.push(this.#current);
      if (this.queries[this.#place]?.columns !== undefined) this.#checked?.add(this.name);
    }
    this.#current = [];
    this.#place += 1;
    this.#expectNext();
  }

  override handleError(error: Error, connection: DriverConnection): void {
    // Statements behind the one that failed were never parsed.
    for (const name of this.#parsed) delete connection.submittedNamedStatements[name];
    this.callback(error);
  }

  override handleReadyForQuery(): void {
    this.callback(this.#fault ?? null);
  }

  /** The driver files what was parsed under the name of the query that is answered. */
  #expectNext(): void {
    const { name, text } = this.queries[this.#place] ?? { name: '', text: '' };
    this.name = name;
    this.text = text;
  }
}

/** Runs statements in one round trip, on any connection of a pool or on a given one. Never rejects. */
export function sendPacket(
  client: pg.Pool | pg.PoolClient,
  queries: readonly NamedQuery[],
): Promise<Answers> {
  // The driver's types do not know that custom queries of its own kind come with a callback.
  const ask = client.query.bind(client) as unknown as (
    packet: Packet,
    callback: (error: unknown) => void,
  ) => void;
  return new Promise((resolve) => {
    try {
      const packet = new Packet(queries);
      ask(packet, (error) => resolve(packet.answers(error ?? undefined)));
    } catch (failure) {
      // A value that the driver cannot write: nothing was sent.
      resolve({ rows: [], command: '', failure });
    }
  });
}
