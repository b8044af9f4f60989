import pg from 'pg';
import type { ColumnSpec, RowOf, Statement } from './statement.ts';

/** Values that a statement takes; arrays for unnest. */
export type Parameter =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Uint8Array
  | null
  | readonly (string | number | bigint | boolean | Date | Uint8Array | null)[];

/** What operations take: either a transaction or the pool itself (each statement then commits alone). */
export interface Queryable {
  query<C extends Record<string, ColumnSpec>>(
    statement: Statement<C>,
    values?: readonly Parameter[],
  ): Promise<RowOf<C>[]>;
}

/** A transaction in progress; operations that must be atomic with others take this type. */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
}

export interface Database extends Queryable {
  /** Runs `work` in one READ COMMITTED transaction; serialization failures and deadlocks are run again, at most 5 times. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /**
   * A connection of its own that listens to one channel until the signal aborts; reconnects by itself. `onNotify` is also
   * called, with an empty payload, whenever a connection stands anew, because notifications may have been missed.
   */
  listen(channel: string, onNotify: (payload: string) => void, signal: AbortSignal): void;
  close(): Promise<void>;
}

const typeParsers = new Map<number, (text: string) => unknown>([
  [20, BigInt],
  [1700, BigInt],
  [1016, (text: string) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(BigInt))],
]);

const types = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return typeParsers.get(oid) ?? pg.types.getTypeParser(oid, format);
  },
} as unknown as pg.CustomTypesConfig;

const retryableStates = new Set(['40001', '40P01']);
const maxAttempts = 5;

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function encode(value: Parameter): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.isBuffer(value) ? value : Buffer.from(value);
  if (Array.isArray(value)) return value.map((item) => encode(item as Parameter));
  return value;
}

async function run<C extends Record<string, ColumnSpec>>(
  client: pg.Pool | pg.PoolClient,
  statement: Statement<C>,
  values: readonly Parameter[],
): Promise<RowOf<C>[]> {
  const result = await client.query({
    name: statement.name,
    text: statement.text,
    values: values.map(encode),
  });
  return result.rows as RowOf<C>[];
}

export interface DatabaseOptions {
  readonly url: string;
  /** Connections in the pool; 10 by default. */
  readonly connections?: number;
  /** Called with errors of idle connections; the pool replaces them by itself. */
  readonly onError?: (error: Error) => void;
}

/** Opens a pool with named prepared statements. Statements end after 15 s, idle transactions after 30 s. */
export function openDatabase(options: DatabaseOptions): Database {
  const settings = {
    connectionString: options.url,
    types,
    statement_timeout: 15_000,
    idle_in_transaction_session_timeout: 30_000,
    connectionTimeoutMillis: 10_000,
    application_name: 'florin',
  };
  const pool = new pg.Pool({ ...settings, max: options.connections ?? 10 });
  const onError = options.onError ?? (() => {});
  pool.on('error', onError);
  return {
    query: (statement, values = []) => run(pool, statement, values),
    transaction: (work) => transact(pool, work),
    listen: (channel, onNotify, signal) => void keepListening(settings, channel, onNotify, signal, onError),
    close: () => pool.end(),
  };
}

async function transact<T>(pool: pg.Pool, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect();
    let broken: Error | undefined;
    // The pool takes its own listener off a connection that it lends; without this one, a connection that dies ends the
    // process.
    const onBroken = (error: Error) => {
      broken = error;
    };
    client.on('error', onBroken);
    try {
      await client.query('begin');
      const result = await work({
        inTransaction: true,
        query: (statement, values = []) => run(client, statement, values),
      });
      await client.query('commit');
      return result;
    } catch (error) {
      // A rollback that fails means that the connection is gone: it must not go back to the pool.
      await client.query('rollback').catch(onBroken);
      if (attempt >= maxAttempts || !retryableStates.has(sqlState(error) ?? '')) throw error;
    } finally {
      client.off('error', onBroken);
      client.release(broken);
    }
  }
}

async function keepListening(
  settings: pg.ClientConfig,
  channel: string,
  onNotify: (payload: string) => void,
  signal: AbortSignal,
  onError: (error: Error) => void,
): Promise<void> {
  while (!signal.aborted) {
    const client = new pg.Client(settings);
    const ended = Promise.withResolvers<void>();
    client.on('error', (error) => {
      onError(error);
      ended.resolve();
    });
    client.on('end', () => ended.resolve());
    client.on('notification', (message) => onNotify(message.payload ?? ''));
    const stop = () => ended.resolve();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await client.connect();
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      // Whatever was notified before the connection stood was missed: have the listener look for itself.
      onNotify('');
      await ended.promise;
    } catch (error) {
      onError(error as Error);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    } finally {
      signal.removeEventListener('abort', stop);
      await client.end().catch(onError);
    }
  }
}
