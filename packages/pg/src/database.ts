import { setTimeout as paused } from 'node:timers/promises';
import pg from 'pg';
import { columnTypes } from './column-types.ts';
import { outageOf } from './outage.ts';
import type { Queryable, Transaction } from './queryable.ts';
import { type RowScope, type Schema, withSystemScope } from './schema.ts';
import { ask, askAlone, type OnStatement, transact } from './transaction.ts';

/**
 * The database in one scope: PostgreSQL itself shows and accepts only rows of that scope, regardless of the
 * statement.
 */
export interface ScopedDatabase extends Queryable {
  readonly scope: string;
  /** Like `Database.transaction`, in the scope. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/** The database in the scope of the whole system. */
export interface Database extends Queryable {
  /** Runs `work` in one READ COMMITTED transaction. Retries serialization failures and deadlocks, at most 5 times. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Narrows to one scope. Throws for a value that the schema does not accept as a scope. */
  inScope(scope: string): ScopedDatabase;
  /**
   * Listens to one channel on a separate connection until the signal aborts, and reconnects by itself. `onNotify` is
   * also called with an empty payload after each new connection, because notifications may have been missed.
   */
  listen(channel: string, onNotify: (payload: string) => void, signal: AbortSignal): void;
  poolState(): PoolState;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Absent: connections have no scope, and the driver's default name. */
  readonly schema?: Pick<Schema, 'applicationName' | 'scope'>;
  /** Connections in the pool; 10 by default. */
  readonly connections?: number | undefined;
  /** Limit for an answer; then its connection is dropped. 20 s by default, longer than any statement runs. */
  readonly answerLimitMs?: number;
  /**
   * How long callers wait while the database is away, in milliseconds from its first failure on: no longer than a
   * failover should take. 0 when absent: they fail at once.
   */
  readonly outageWaitMs?: number;
  /** Called at the end of each outage, with its length in milliseconds. */
  readonly onBack?: (ms: number) => void;
  /** Called with errors of idle connections; the pool replaces them by itself. */
  readonly onError?: (error: Error) => void;
  /** Called after each transaction that was committed, with its time from the pool's connection to the commit. */
  readonly onCommit?: ((ms: number) => void) | undefined;
  /** Called after each declared statement, where its caller waits for it. */
  readonly onStatement?: OnStatement | undefined;
}

/** What the connections of a pool do. */
export interface PoolState {
  readonly open: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

/** How long a statement waits for a lock: a row's, or an advisory one. */
const lockLimitMs = 10_000;

/**
 * Opens a pool with named prepared statements, in the system's scope. Statements end after 15 s, waits for
 * a lock after 10 s, idle transactions after 30 s. A connection that does not answer within 20 s is dropped, and its statements fail.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const settings = { ...settingsOf(options), types: columnTypes };
  // Statements of one transaction that do not wait for each other are sent at once.
  const pool = new pg.Pool({ ...settings, max: options.connections ?? 10, pipeline: true });
  const onError = options.onError ?? (() => {});
  pool.on('error', onError);
  const listen: Database['listen'] = (channel, onNotify, signal) =>
    void keepListening(settings, channel, onNotify, signal, onError);
  return databaseOver(pool, listen, options.schema?.scope, options);
}

/** The scope and the limits of a connection. */
export function settingsOf(
  options: Pick<DatabaseOptions, 'url' | 'schema' | 'answerLimitMs'>,
): pg.ClientConfig {
  return {
    connectionString: withSystemScope(options.url, options.schema ?? {}),
    statement_timeout: 15_000,
    idle_in_transaction_session_timeout: 30_000,
    // Shorter than a statement, so that the error says that a lock was the reason.
    lock_timeout: lockLimitMs,
    // A network may swallow packets: do not wait for ever for a lost peer.
    query_timeout: options.answerLimitMs ?? 20_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: 10_000,
    ...(options.schema === undefined ? {} : { application_name: options.schema.applicationName }),
  };
}

/** The database over an open pool, or over a replacement in a test. */
export function databaseOver(
  pool: pg.Pool,
  listen: Database['listen'],
  scope?: RowScope,
  {
    outageWaitMs = 0,
    onBack,
    onCommit,
    onStatement,
  }: Pick<DatabaseOptions, 'outageWaitMs' | 'onBack' | 'onCommit' | 'onStatement'> = {},
): Database {
  const source = { pool, outage: outageOf(pool, outageWaitMs, onBack), onStatement };
  const transactIn = <T>(begin: string, work: (transaction: Transaction) => Promise<T>) =>
    transact(source, begin, work, onCommit);
  return {
    // Without a wait, what the pool does by itself is the same.
    query: async (statement, ...values) =>
      outageWaitMs > 0
        ? askAlone(source, statement, statement.positioned(...values))
        : ask(pool, statement, statement.positioned(...values), onStatement),
    transaction: (work) => transactIn('begin', work),
    inScope: (value) => narrowed(transactIn, scope, value),
    listen,
    poolState: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
  };
}

type TransactIn = <T>(begin: string, work: (transaction: Transaction) => Promise<T>) => Promise<T>;

function narrowed(transactIn: TransactIn, scope: RowScope | undefined, value: string): ScopedDatabase {
  if (scope?.accepts(value) !== true) throw new Error('the schema has no such scope');
  const begin = `begin; set local ${scope.setting} = ${pg.escapeLiteral(value)}`;
  const transaction: Database['transaction'] = (work) => transactIn(begin, work);
  return {
    scope: value,
    // The setting ends with the transaction, so a single statement needs one too.
    async query(statement, ...values) {
      const { rows } = await transaction(async (alone) => {
        const rows = alone.query(statement, ...values);
        // Not awaited, so that the commit is sent right behind it. If it fails, the transaction throws the error.
        rows.catch(() => {});
        return { rows };
      });
      return rows;
    },
    transaction,
  };
}

/** A server that closes each connection at once must not be asked without a pause. */
const relistenMs = 1_000;

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
      // Notifications before the connection was ready are lost: make the listener check for itself.
      onNotify('');
      await ended.promise;
    } catch (error) {
      onError(error as Error);
    } finally {
      signal.removeEventListener('abort', stop);
      await client.end().catch(onError);
    }
    await paused(relistenMs, undefined, { signal }).catch(() => undefined);
  }
}
