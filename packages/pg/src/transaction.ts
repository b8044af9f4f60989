import type pg from 'pg';
import { type Column, columnsOf } from './column-types.ts';
import { commit, type NamedQuery, sendPacket } from './packet.ts';
import { encodeParameters } from './parameter.ts';
import type { Transaction } from './queryable.ts';
import type { AnyStatement, ColumnSpec, Parameter, RowOf, Statement } from './statement.ts';

const retryableStates = new Set(['40001', '40P01']);
/** That a prepared statement is not there. */
const unpreparedState = '26000';
/**
 * What PostgreSQL answers to every statement behind one that has failed, or to one that relies on being prepared by what was
 * sent before it and not executed.
 */
const statesBehindFailure = new Set(['25P02', unpreparedState]);
const maxAttempts = 5;

function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

const columns = new WeakMap<object, readonly Column[]>();

function columnsOfStatement(statement: AnyStatement): readonly Column[] {
  const known = columns.get(statement);
  if (known !== undefined) return known;
  const read = columnsOf(statement.columns);
  columns.set(statement, read);
  return read;
}

export function toNamedQuery<C extends Record<string, ColumnSpec>>(
  statement: Statement<C, never>,
  values: readonly Parameter[],
): NamedQuery {
  const { name, text, parameters } = statement;
  return {
    ...{ name, text, values: encodeParameters(values, parameters) },
    columns: columnsOfStatement(statement),
  };
}

/** The rows that a statement gave, as it declares them. */
export function rowsOf<C extends Record<string, ColumnSpec>>(
  _statement: Statement<C, never>,
  rows: readonly Record<string, unknown>[],
): RowOf<C>[] {
  return rows as RowOf<C>[];
}

type Rows = readonly Record<string, unknown>[];

/** A connection's way through one transaction. */
interface Course {
  readonly ask: (query: NamedQuery) => Promise<Rows>;
  readonly write: (query: NamedQuery) => void;
  /** What failed first; undefined while nothing has. */
  readonly failure: () => unknown;
  /**
   * A commit takes with it what was asked before, heard or not; a rollback lets go of what was not sent yet. Nothing that is
   * asked from now on reaches the connection, which will be somebody else's.
   */
  readonly end: (how: 'commit' | 'rollback') => Promise<unknown>;
}

/** PostgreSQL answers the commit of what it has undone without an error: nobody may take that for done. */
function undone(): Error {
  return new Error('PostgreSQL has undone the transaction instead of committing it');
}

function afterEnd({ name }: NamedQuery): Error {
  return new Error(`${name} came after the end of its transaction`);
}

/** A statement on its way, and who waits for its answer. */
interface Asked {
  readonly query: NamedQuery;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (reason: unknown) => void;
}

const nobody = { resolve: () => {}, reject: () => {} };

/**
 * Statements that are asked in one go travel in one packet: the first of them with what the transaction begins with, writes
 * with whatever comes after them, the last of them with the commit. Packets behind the first one wait until that has been
 * answered, so that nothing is ever executed behind a begin that failed.
 */
function open(client: pg.PoolClient, prefaces: readonly NamedQuery[]): Course {
  let waiting: Asked[] = [];
  let first: Promise<unknown> | undefined;
  let isDue = false;
  let ended: 'commit' | 'rollback' | undefined;
  let failure: unknown;
  const send = async (
    asked: readonly Asked[],
    before: readonly NamedQuery[],
    after: readonly NamedQuery[] = [],
  ) => {
    const answers = await sendPacket(client, [...before, ...asked.map(({ query }) => query), ...after]);
    failure ??= answers.failure;
    for (const [place, { resolve, reject }] of asked.entries()) {
      const rows = answers.rows[before.length + place];
      if (rows === undefined) reject(answers.failure);
      else resolve(rows);
    }
    return answers;
  };
  const sendBehind = (asked: readonly Asked[]) => {
    if (ended !== 'rollback' && failure === undefined) return send(asked, []);
    for (const { query, reject } of asked) reject(failure ?? afterEnd(query));
    return undefined;
  };
  const sendDue = () => {
    isDue = false;
    const asked = waiting;
    waiting = [];
    if (asked.length === 0) return;
    if (first === undefined) first = send(asked, prefaces);
    else void first.then(() => sendBehind(asked));
  };
  return {
    ask: (query) =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(afterEnd(query));
        waiting.push({ query, resolve, reject });
        if (!isDue) queueMicrotask(sendDue);
        isDue = true;
      }),
    write: (query) => {
      if (ended !== undefined) throw afterEnd(query);
      waiting.push({ query, ...nobody });
    },
    failure: () => failure,
    async end(how) {
      ended = how;
      const asked = waiting;
      waiting = [];
      if (how === 'rollback') {
        for (const { query, reject } of asked) reject(afterEnd(query));
        return first === undefined ? undefined : client.query(how);
      }
      if (first === undefined && asked.length === 0) return undefined;
      const before = first === undefined ? prefaces : [];
      first ??= Promise.resolve();
      // Whatever is due goes out before what comes behind this.
      await first;
      if (failure !== undefined) {
        for (const { reject } of asked) reject(failure);
        throw failure;
      }
      const { command } = await send(asked, before, [commit]);
      // What PostgreSQL has committed stands, even where an answer that nobody waited for could not be read.
      if (command !== 'COMMIT') throw failure ?? undone();
      return undefined;
    },
  };
}

/** Runs `work` in one transaction that begins with `prefaces`, again after serialization failures and deadlocks. */
export async function transact<T>(
  pool: pg.Pool,
  prefaces: readonly NamedQuery[],
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
    const course = open(client, prefaces);
    try {
      const result = await work({
        inTransaction: true,
        query: async (statement, ...values) =>
          rowsOf(statement, await course.ask(toNamedQuery(statement, statement.positioned(...values)))),
        write(statement, ...values) {
          const { name, text, values: encoded } = toNamedQuery(statement, statement.positioned(...values));
          course.write({ name, text, values: encoded });
        },
      });
      if (course.failure() !== undefined) throw course.failure();
      await course.end('commit');
      return result;
    } catch (error) {
      // A rollback that fails means that the connection is gone: it must not go back to the pool.
      await course.end('rollback').catch(onBroken);
      // Of statements that travel together, one behind the one that failed may be heard of before it.
      const reason = statesBehindFailure.has(sqlState(error) ?? '') ? (course.failure() ?? error) : error;
      // Somebody between PostgreSQL and us has made it forget what it had prepared: on this connection nothing will work again.
      if (reason instanceof Error && sqlState(reason) === unpreparedState) broken = reason;
      if (attempt >= maxAttempts || !retryableStates.has(sqlState(reason) ?? '')) throw reason;
    } finally {
      client.off('error', onBroken);
      client.release(broken);
    }
  }
}
