import type pg from 'pg';
import type { ColumnSpec } from './column-types.ts';
import { encodeParameters } from './parameter.ts';
import type { Transaction } from './queryable.ts';
import type { Parameter, RowOf, Statement } from './statement.ts';

/** Serialization failure and deadlock. */
const retryableStates = ['40001', '40P01'];
/** The connection does not know a prepared statement. */
const unpreparedState = '26000';
/** PostgreSQL's answer to statements that were sent behind a failed one. */
const statesBehindFailure = ['25P02', unpreparedState];
const maxAttempts = 5;

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Sends one statement. Rejects an answer whose columns differ from the declaration. */
export async function ask<C extends Record<string, ColumnSpec>>(
  client: pg.Pool | pg.PoolClient,
  statement: Statement<C>,
  values: readonly Parameter[],
): Promise<RowOf<C>[]> {
  const { name, text, parameters, answer } = statement;
  const encoded = encodeParameters(values, parameters);
  const { rows, fields } = await client.query<RowOf<C>>({ name, text, values: encoded });
  const isAsDeclared = answer.every(
    (column, place) => fields[place]?.name === column.name && fields[place].dataTypeID === column.oid,
  );
  if (!isAsDeclared || fields.length !== answer.length)
    throw new Error(`${name} returns other columns than it declares`);
  return rows;
}

/**
 * Runs `work` in one transaction that starts with the SQL `begin`, and retries serialization failures and deadlocks.
 * A lost connection is not retried, because the commit may have succeeded.
 */
export async function transact<T>(
  pool: pg.Pool,
  begin: string,
  work: (transaction: Transaction) => Promise<T>,
  onCommit?: (ms: number) => void,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await pool.connect();
    let broken: Error | undefined;
    // The pool removes its own listener from a connection that it lends. Without a listener, a lost connection ends
    // the process.
    const onBroken = (error: Error) => {
      broken = error;
    };
    client.on('error', onBroken);
    let failure: unknown;
    let isOver = false;
    // PostgreSQL answers in order: when the last statement has its answer, all have.
    let last: Promise<void> | undefined;
    const transaction: Transaction = {
      inTransaction: true,
      async query(statement, ...values) {
        if (isOver) throw new Error(`${statement.name} came after the end of its transaction`);
        const rows = ask(client, statement, statement.positioned(...values));
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
      const { command } = await client.query('commit');
      // PostgreSQL answers the commit of a failed transaction with ROLLBACK, and without an error.
      if (command === 'COMMIT') {
        onCommit?.(performance.now() - start);
        return result;
      }
      await last;
      throw failure ?? new Error('PostgreSQL has rolled the transaction back instead of committing it');
    } catch (error) {
      isOver = true;
      // When this fails, the connection is lost and must not return to the pool.
      await client.query('rollback').catch(onBroken);
      const reason = statesBehindFailure.includes(sqlState(error)) ? (failure ?? error) : error;
      // A connection that has lost its prepared statements would fail again.
      if (reason instanceof Error && sqlState(reason) === unpreparedState) broken = reason;
      if (attempt >= maxAttempts || !retryableStates.includes(sqlState(reason))) throw reason;
    } finally {
      client.off('error', onBroken);
      client.release(broken);
    }
  }
}
