import { isId } from '@florin/protocol/id.ts';
import pg from 'pg';
import { encodeParameters, type Parameter } from './parameter.ts';
import { begin, type NamedQuery, queryAfter, scopeOf } from './prefaced-query.ts';
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
/** What PostgreSQL answers to every statement behind one that has failed. */
const abortedState = '25P02';
const maxAttempts = 5;

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Sends a statement on its way. */
type Ask = (query: NamedQuery) => Promise<pg.QueryResult>;

async function run<C extends Record<string, ColumnSpec>>(
  ask: Ask,
  { name, text, parameters }: Statement<C>,
  values: readonly Parameter[],
): Promise<RowOf<C>[]> {
  const result = await ask({ name, text, values: encodeParameters(values, parameters) });
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
  // Statements of one transaction that do not wait for each other travel together.
  const pool = new pg.Pool({ ...settings, max: options.connections ?? 10, pipeline: true });
  const onError = options.onError ?? (() => {});
  pool.on('error', onError);
  const listen: Database['listen'] = (channel, onNotify, signal) =>
    void keepListening(settings, channel, onNotify, signal, onError);
  return databaseOver(pool, listen, openWithFirst);
}

/**
 * The database over a pool that is open already, or over what stands in for one: there a transaction begins with a statement
 * of its own.
 */
export function databaseOver(pool: pg.Pool, listen: Database['listen'], open: Opening = openApart): Database {
  return {
    query: (statement, values = []) => run((query) => pool.query(query), statement, values),
    transaction: (work) => transact(pool, (client) => open(client, [begin]), work),
    forMerchant: (merchantId) => narrowed(pool, merchantId, open),
    listen,
    close: () => pool.end(),
  };
}

function narrowed(pool: pg.Pool, merchantId: string, open: Opening): MerchantDatabase {
  if (!isId('merchant', merchantId)) throw new Error('a scope needs the id of a merchant');
  const scope = scopeOf(merchantId);
  return {
    merchantId,
    query: (statement, values = []) => run((query) => queryAfter(pool, [scope], query), statement, values),
    transaction: (work) => transact(pool, (client) => open(client, [begin, scope]), work),
  };
}

/** A connection's way through one transaction. */
interface Course {
  readonly begin: () => Promise<unknown>;
  readonly ask: Ask;
  /** What failed first; undefined while nothing has. */
  readonly failure: () => unknown;
  /** Nothing that is asked from now on reaches the connection, which will be somebody else's. */
  readonly end: (how: 'commit' | 'rollback') => Promise<unknown>;
}

type Opening = (client: pg.PoolClient, prefaces: readonly NamedQuery[]) => Course;

function guardOf(client: pg.PoolClient) {
  let isOver = false;
  let failure: unknown;
  return {
    async send(query: NamedQuery, prefaces: readonly NamedQuery[] = []) {
      if (isOver) throw new Error(`${query.name} came after the end of its transaction`);
      try {
        return await (prefaces.length === 0 ? client.query(query) : queryAfter(client, prefaces, query));
      } catch (error) {
        failure ??= error;
        throw error;
      }
    },
    failure: () => failure,
    close() {
      isOver = true;
    },
  };
}

/**
 * What a transaction begins with goes along with its first statement: a round trip less. The others wait until that has been
 * answered, so that nothing is ever executed behind a begin that failed.
 */
function openWithFirst(client: pg.PoolClient, prefaces: readonly NamedQuery[]): Course {
  const { send, failure, close } = guardOf(client);
  let first: Promise<pg.QueryResult> | undefined;
  return {
    begin: async () => {},
    ask: (query) => {
      if (first !== undefined) return first.then(() => send(query));
      first = send(query, prefaces);
      return first;
    },
    failure,
    async end(how) {
      close();
      if (first !== undefined) await client.query(how);
    },
  };
}

/** One after the other, for what stands in for the driver and sends nothing behind a statement that is not answered yet. */
function openApart(client: pg.PoolClient, prefaces: readonly NamedQuery[]): Course {
  const { send, failure, close } = guardOf(client);
  let last: Promise<unknown> = Promise.resolve();
  return {
    async begin() {
      for (const { text, values } of prefaces)
        await (values.length === 0 ? client.query(text) : client.query(text, values));
    },
    ask: (query) => {
      const answer = last.then(() => send(query));
      // Whoever asked is told of a failure; those behind it find the transaction aborted.
      last = answer.catch(() => undefined);
      return answer;
    },
    failure,
    async end(how) {
      close();
      await last;
      await client.query(how);
    },
  };
}

async function transact<T>(
  pool: pg.Pool,
  open: (client: pg.PoolClient) => Course,
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
    const course = open(client);
    try {
      await course.begin();
      const result = await work({
        inTransaction: true,
        query: (statement, values = []) => run(course.ask, statement, values),
      });
      // PostgreSQL answers the commit of what it has undone without an error: nobody may take that for done.
      if (course.failure() !== undefined) throw course.failure();
      await course.end('commit');
      return result;
    } catch (error) {
      // A rollback that fails means that the connection is gone: it must not go back to the pool.
      await course.end('rollback').catch(onBroken);
      // Of statements that travel together, one behind the one that failed may be heard of before it.
      const reason = sqlState(error) === abortedState ? (course.failure() ?? error) : error;
      if (attempt >= maxAttempts || !retryableStates.has(sqlState(reason) ?? '')) throw reason;
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
