import { isId } from '@florin/protocol/id.ts';
import pg from 'pg';
import { encodeParameters, type Parameter } from './parameter.ts';
import { queryInScope } from './scoped-query.ts';
import type { ColumnSpec, RowOf, Statement } from './statement.ts';

export type { Parameter } from './parameter.ts';

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

/**
 * The database as one merchant's requests see it: PostgreSQL itself shows and takes only rows of that merchant, whatever
 * a statement asks for. Nothing leads from here to other merchants' rows.
 */
export interface MerchantDatabase extends Queryable {
  readonly merchantId: string;
  /** As `Database.transaction`, in the merchant's scope. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/** The database in the scope of the whole system: watcher, settlement, deliveries, housekeeping, group commits. */
export interface Database extends Queryable {
  /** Runs `work` in one READ COMMITTED transaction; serialization failures and deadlocks are run again, at most 5 times. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Narrows to one merchant; costs no round trip. Throws for what is no merchant's id. */
  forMerchant(merchantId: string): MerchantDatabase;
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

/** How columns are read: big integers and numerics as bigint. */
export const columnTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    return typeParsers.get(oid) ?? pg.types.getTypeParser(oid, format);
  },
} as unknown as pg.CustomTypesConfig;

const retryableStates = new Set(['40001', '40P01']);
const maxAttempts = 5;

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

async function run<C extends Record<string, ColumnSpec>>(
  client: pg.Pool | pg.PoolClient,
  statement: Statement<C>,
  values: readonly Parameter[],
): Promise<RowOf<C>[]> {
  const result = await client.query({
    name: statement.name,
    text: statement.text,
    values: encodeParameters(values, statement.parameters),
  });
  return result.rows as RowOf<C>[];
}

export interface DatabaseOptions {
  readonly url: string;
  /** Connections in the pool; 10 by default. */
  readonly connections?: number;
  /** How long an answer may take before its connection is given up; 20 s by default, longer than any statement runs. */
  readonly answerLimitMs?: number;
  /** Called with errors of idle connections; the pool replaces them by itself. */
  readonly onError?: (error: Error) => void;
}

/** The option of a connection's start that opens it for the whole system; without it, policies show no rows at all. */
const systemScopeOption = '-c florin.merchant=*';

/** A database's URL with the system's scope in it. The driver prefers options of the URL, so they are joined there. */
export function withSystemScope(url: string): string {
  const [place = url, query] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('options', [parameters.get('options') ?? '', systemScopeOption].join(' ').trim());
  return `${place}?${parameters}`;
}

/**
 * Opens a pool with named prepared statements, in the system's scope. Statements end after 15 s, idle transactions after
 * 30 s; a connection that does not answer within 20 s is dropped, and what it was asked fails.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const settings = {
    connectionString: withSystemScope(options.url),
    types: columnTypes,
    statement_timeout: 15_000,
    idle_in_transaction_session_timeout: 30_000,
    // For networks that swallow packets: nobody may wait for ever on a connection whose other end is gone.
    query_timeout: options.answerLimitMs ?? 20_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 10_000,
    application_name: 'florin',
  };
  const pool = new pg.Pool({ ...settings, max: options.connections ?? 10 });
  const onError = options.onError ?? (() => {});
  pool.on('error', onError);
  return databaseOver(
    pool,
    (channel, onNotify, signal) => void keepListening(settings, channel, onNotify, signal, onError),
  );
}

/** The database over a pool that is open already, or over what stands in for one. */
export function databaseOver(pool: pg.Pool, listen: Database['listen']): Database {
  return {
    query: (statement, values = []) => run(pool, statement, values),
    transaction: (work) => transact(pool, 'begin', work),
    forMerchant: (merchantId) => narrowed(pool, merchantId),
    listen,
    close: () => pool.end(),
  };
}

function narrowed(pool: pg.Pool, merchantId: string): MerchantDatabase {
  // It is written into the text of a statement below.
  if (!isId('merchant', merchantId)) throw new Error('a scope needs the id of a merchant');
  return {
    merchantId,
    query: (statement, values = []) => runScoped(pool, merchantId, statement, values),
    transaction: (work) => transact(pool, `begin; set local florin.merchant = '${merchantId}'`, work),
  };
}

async function runScoped<C extends Record<string, ColumnSpec>>(
  pool: pg.Pool,
  merchantId: string,
  { name, text, parameters }: Statement<C>,
  values: readonly Parameter[],
): Promise<RowOf<C>[]> {
  const encoded = encodeParameters(values, parameters);
  const result = await queryInScope(pool, { merchantId, name, text, values: encoded });
  return result.rows as RowOf<C>[];
}

async function transact<T>(
  pool: pg.Pool,
  begin: string,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
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
      await client.query(begin);
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
