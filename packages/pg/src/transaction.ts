import type pg from 'pg';
import type { ColumnSpec } from './column-types.ts';
import { isDatabaseAway, type Outage } from './outage.ts';
import { encodeParameters } from './parameter.ts';
import type { Transaction } from './queryable.ts';
import type { Parameter, RowOf, Statement } from './statement.ts';

/** Serialization failure and deadlock. */
const retryableStates = ['40001', '40P01'];
/** The connection does not know a prepared statement. */
const unpreparedState = '26000';
/** PostgreSQL's answer to statements that were sent behind a failed one. */
const statesBehindFailure = ['25P02', unpreparedState];
/** A lock was not free in time. */
const lockNotAvailable = '55P03';
/** A statement that took too long. */
const queryCanceled = '57014';
/** A server that is a standby, or has become one. */
const readOnlyState = '25006';
/** A connection that answers so must not be used again. */
const unusableStates = [unpreparedState, readOnlyState];
export const maxAttempts = 5;

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Whether a lock was not free within the time that its transaction waits for one. */
export function isLockTimeout(error: unknown): boolean {
  return sqlState(error) === lockNotAvailable;
}

/** Whether a statement has reached its time limit, or was cancelled by hand. */
export function isStatementTimeout(error: unknown): boolean {
  return sqlState(error) === queryCanceled;
}

/** Gets the name of each statement that has ended, with its time from the sending to the answer. */
export type OnStatement = (ended: {
  readonly name: string;
  readonly ms: number;
  readonly isFailed: boolean;
}) => void;

/** Sends one statement. Rejects an answer whose columns differ from the declaration. */
export async function ask<C extends Record<string, ColumnSpec>>(
  client: pg.Pool | pg.PoolClient,
  statement: Statement<C>,
  values: readonly Parameter[],
  onStatement?: OnStatement,
): Promise<RowOf<C>[]> {
  if (onStatement === undefined) return answerOf(client, statement, values);
  const start = performance.now();
  let isFailed = true;
  try {
    const rows = await answerOf(client, statement, values);
    isFailed = false;
    return rows;
  } finally {
    onStatement({ name: statement.name, ms: performance.now() - start, isFailed });
  }
}

async function answerOf<C extends Record<string, ColumnSpec>>(
  client: pg.Pool | pg.PoolClient,
  statement: Statement<C>,
  values: readonly Parameter[],
): Promise<RowOf<C>[]> {
  const { name, text, parameters, answer } = statement;
  const encoded = encodeParameters(values, parameters);
  const { rows, fields } = await client
    .query<RowOf<C>>({ name, text, values: encoded })
    .catch((error: unknown) => {
      // PostgreSQL does not say which lock it was.
      if (error instanceof Error && isLockTimeout(error)) error.message += `, in ${name}`;
      throw error;
    });
  const isAsDeclared = answer.every(
    (column, place) => fields[place]?.name === column.name && fields[place].dataTypeID === column.oid,
  );
  if (!isAsDeclared || fields.length !== answer.length)
    throw new Error(`${name} returns other columns than it declares`);
  return rows;
}

/** A pool, and what is known of its outages. */
export interface Source {
  readonly pool: pg.Pool;
  readonly outage: Outage;
  readonly onStatement?: OnStatement | undefined;
}

/** Takes a connection from the pool, and waits while the database is away. */
export async function connect({ pool, outage }: Pick<Source, 'pool' | 'outage'>): Promise<pg.PoolClient> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await pool.connect();
    } catch (error) {
      if (attempt >= maxAttempts || !isDatabaseAway(error) || !(await outage.isOver())) throw error;
    }
  }
}

/** A statement that may be executed twice: it reads. What changes rows begins with another word. */
const readStart = /^\s*select\b/i;

/** Whether a statement that was sent alone and failed so may be sent again once the database is back. */
export function mayRepeat(text: string, error: unknown): boolean {
  return sqlState(error) === readOnlyState || (readStart.test(text) && isDatabaseAway(error));
}

/**
 * Sends one statement alone, and waits while the database is away. A read is sent again after its connection was lost.
 * For any other statement that is an error, because it may have been executed; a server that cannot be written to has
 * executed nothing.
 */
export async function askAlone<C extends Record<string, ColumnSpec>>(
  source: Source,
  statement: Statement<C>,
  values: readonly Parameter[],
): Promise<RowOf<C>[]> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await connect(source);
    let broken: Error | undefined;
    const onBroken = (error: Error) => {
      broken = error;
    };
    client.on('error', onBroken);
    try {
      return await ask(client, statement, values, source.onStatement);
    } catch (error) {
      // As the pool does it: an error of a connection is not told from one of its statement.
      broken ??= error as Error;
      if (attempt >= maxAttempts || !mayRepeat(statement.text, error)) throw error;
    } finally {
      client.off('error', onBroken);
      client.release(broken);
    }
    if (!(await source.outage.isOver())) throw broken;
  }
}

/**
 * Runs `work` in one transaction that starts with the SQL `begin`, and retries serialization failures and deadlocks.
 * While the database is away it waits, and begins again. A connection that is lost after the commit was sent is an
 * error, because the commit may have succeeded.
 */
export async function transact<T>(
  source: Source,
  begin: string,
  work: (transaction: Transaction) => Promise<T>,
  onCommit?: (ms: number) => void,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await attemptOn(await connect(source), begin, work, onCommit, source.onStatement);
    if ('result' in outcome) return outcome.result;
    const { reason, isCommitSent } = outcome;
    if (attempt >= maxAttempts) throw reason;
    if (retryableStates.includes(sqlState(reason))) continue;
    if (isCommitSent || !isDatabaseAway(reason) || !(await source.outage.isOver())) throw reason;
  }
}

type Attempt<T> = { readonly result: T } | { readonly reason: unknown; readonly isCommitSent: boolean };

async function attemptOn<T>(
  client: pg.PoolClient,
  begin: string,
  work: (transaction: Transaction) => Promise<T>,
  onCommit?: (ms: number) => void,
  onStatement?: OnStatement,
): Promise<Attempt<T>> {
  let broken: Error | undefined;
  // The pool removes its own listener from a connection that it lends. Without a listener, a lost connection ends
  // the process.
  const onBroken = (error: Error) => {
    broken = error;
  };
  client.on('error', onBroken);
  let failure: unknown;
  let isOver = false;
  let isCommitSent = false;
  // PostgreSQL answers in order: when the last statement has its answer, all have.
  let last: Promise<void> | undefined;
  const transaction: Transaction = {
    inTransaction: true,
    async query(statement, ...values) {
      if (isOver) throw new Error(`${statement.name} came after the end of its transaction`);
      const rows = ask(client, statement, statement.positioned(...values), onStatement);
      last = rows.then(
        () => {},
        (error: unknown) => {
          failure ??= error;
        },
      );
      return rows;
    },
  };
  const start = performance.now();
  try {
    await client.query(begin);
    const result = await work(transaction);
    isOver = true;
    if (failure !== undefined) throw failure;
    isCommitSent = true;
    const { command } = await client.query('commit');
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK, and without an error.
    if (command === 'COMMIT') {
      onCommit?.(performance.now() - start);
      return { result };
    }
    await last;
    throw failure ?? new Error('PostgreSQL has rolled the transaction back instead of committing it');
  } catch (error) {
    isOver = true;
    // When this fails, the connection is lost and must not return to the pool.
    await client.query('rollback').catch(onBroken);
    const reason = statesBehindFailure.includes(sqlState(error)) ? (failure ?? error) : error;
    // A connection that has lost its prepared statements would fail again, and so would one to a server that cannot be
    // written to.
    if (reason instanceof Error && unusableStates.includes(sqlState(reason))) broken = reason;
    return { reason, isCommitSent };
  } finally {
    client.off('error', onBroken);
    client.release(broken);
  }
}
