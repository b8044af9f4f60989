import { isId } from '@florin/protocol/id.ts';
import pg from 'pg';
import { columnTypes } from './column-types.ts';
import { begin, type NamedQuery, scopeOf, sendPacket } from './packet.ts';
import type { Parameter } from './parameter.ts';
import type { Queryable, Transaction } from './queryable.ts';
import type { ColumnSpec, RowOf, Statement } from './statement.ts';
import { rowsOf, toNamedQuery, transact } from './transaction.ts';

export type { Parameter } from './parameter.ts';
export type { Queryable, Transaction } from './queryable.ts';

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
  return databaseOver(pool, listen);
}

/** The database over a pool that is open already, or over what stands in for one and takes packets as it does. */
export function databaseOver(pool: pg.Pool, listen: Database['listen']): Database {
  return {
    query: (statement, values = []) => ask(pool, [], statement, values),
    transaction: (work) => transact(pool, [begin], work),
    forMerchant: (merchantId) => narrowed(pool, merchantId),
    listen,
    close: () => pool.end(),
  };
}

function narrowed(pool: pg.Pool, merchantId: string): MerchantDatabase {
  if (!isId('merchant', merchantId)) throw new Error('a scope needs the id of a merchant');
  const scope = scopeOf(merchantId);
  return {
    merchantId,
    query: (statement, values = []) => ask(pool, [scope], statement, values),
    transaction: (work) => transact(pool, [begin, scope], work),
  };
}

/** A statement that commits alone, with what has to come before it. */
async function ask<C extends Record<string, ColumnSpec>>(
  pool: pg.Pool,
  prefaces: readonly NamedQuery[],
  statement: Statement<C>,
  values: readonly Parameter[],
): Promise<RowOf<C>[]> {
  const { rows, failure } = await sendPacket(pool, [...prefaces, toNamedQuery(statement, values)]);
  if (failure !== undefined) throw failure;
  return rowsOf(statement, rows[prefaces.length] ?? []);
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
