import { columnTypes, withSystemScope } from '@florin/pg';
import { schema } from '@florin/server/operator';
import pg from 'pg';
import { ReadCache } from './read-cache.ts';
import { type Outcome, prepared, type RawResult, resultOf, runRaw } from './recorded-query.ts';

/** A statement that is on its way to the server. */
interface Sent {
  readonly connection: Connection;
  readonly query: pg.QueryConfig;
  /** Called once, with the outcome. */
  readonly onOutcome: (outcome: Outcome) => Promise<void>;
  /** Called when it waits for a lock. */
  readonly onWait: () => void;
}

/** A statement at the server that waits for a lock of another transaction. */
interface Blocked {
  readonly sent: Sent;
  readonly work: Promise<Outcome>;
}

/** A connection to the real database. Its holder has a transaction in it. */
export interface Connection {
  readonly client: pg.Client;
  readonly pid: number;
  /** Whether `begin` is still unsent. It precedes the first statement that needs it. */
  isBeginDue: boolean;
  isOpen: boolean;
  /**
   * Whether an error has aborted the transaction. PostgreSQL then refuses every statement until the transaction ends.
   */
  isAborted: boolean;
  /** The open transaction's changes. Undefined: unknown, so possibly everything. */
  changes: readonly string[] | undefined;
}

/** Real milliseconds that a statement may take before the observer asks the server whether it waits for a lock. */
const lockCheckAfterMs = 3;

/** Fails like a statement with a serialization failure. */
export const serializationFailure = { name: 'simulation_refuse', text: 'select simulation_refuse()' };
const createSerializationFailure = `create or replace function simulation_refuse() returns void language plpgsql
  as $$ begin raise exception 'could not serialize access' using errcode = '40001'; end $$`;

/**
 * The real connections behind all simulated ones. A statement either answers or waits for a lock, as the server
 * itself reports. A timer never decides what the simulation sees.
 */
export class Connections {
  readonly #url: string;
  readonly #idle: Connection[] = [];
  readonly #all: Connection[] = [];
  #blocked: Blocked[] = [];
  #isResuming = false;
  #mayResumeMore = false;
  /** Queries locks and serves the checker. Never has a transaction. */
  readonly observer: pg.Client;
  readonly cache: ReadCache;

  private constructor(url: string, observer: pg.Client, cache: ReadCache) {
    this.#url = url;
    this.observer = observer;
    this.cache = cache;
  }

  /** With `usesCache` false, every statement goes to the server, even where its answer is cached. */
  static async open(url: string, options: { usesCache?: boolean } = {}): Promise<Connections> {
    const observer = await connect(url);
    await observer.query(createSerializationFailure);
    return new Connections(url, observer, await ReadCache.of(observer, options));
  }

  async acquire(): Promise<Connection> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const client = await connect(this.#url);
    await client.query(prepared.begin);
    await client.query(prepared.commit);
    const pid = (client as unknown as { processID: number }).processID;
    const connection: Connection = {
      ...{ client, pid, isBeginDue: false, isOpen: false, isAborted: false, changes: [] },
    };
    this.#all.push(connection);
    return connection;
  }

  /**
   * Answers a question of the observer, outside of any transaction: from the cache where nothing has changed. Between
   * two polls for open work, most tables stay as they are.
   */
  async observe<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<pg.QueryResult<Row>> {
    const cached = this.cache.get(query, []);
    if (cached !== undefined) return resultOf(cached);
    const found = await runRaw(this.observer, query);
    if ('error' in found) throw found.error;
    if (this.cache.isPure(query)) this.cache.store(query, found, []);
    return resultOf(found);
  }

  release(connection: Connection): void {
    this.#idle.push(connection);
  }

  /**
   * Runs a statement. Resolves once its sender has the outcome. If it has to wait for a lock, it resolves at once,
   * and the sender receives the outcome when the lock is released.
   */
  async run(sent: Sent): Promise<void> {
    const { connection, query, onOutcome, onWait } = sent;
    const cached = this.#answerLocally(connection, query) ?? (await this.#neverDue(connection, query));
    if (cached !== undefined) return onOutcome(cached);
    const work = this.#send(connection, query);
    const outcome = await this.#outcomeOrBlocked(connection, work);
    if (outcome !== undefined) return this.#answer(sent, outcome);
    this.#blocked.push({ sent, work });
    onWait();
  }

  /** Answers without the server: the begin of a transaction, the end of a read-only one, and cached answers. */
  #answerLocally(connection: Connection, query: pg.QueryConfig): RawResult | undefined {
    if (connection.isAborted) return undefined;
    if (query.text === 'begin') {
      connection.isBeginDue = true;
      connection.isOpen = true;
      return emptyResult('BEGIN');
    }
    if (query.text === 'commit' && connection.isBeginDue) {
      close(connection);
      return emptyResult('COMMIT');
    }
    return connection.changes === undefined ? undefined : this.cache.get(query, connection.changes);
  }

  /** The answer to a poll for due rows, where no row will ever be due. This asks that question first. */
  async #neverDue(connection: Connection, query: pg.QueryConfig): Promise<RawResult | undefined> {
    const { client, changes, isAborted } = connection;
    if (changes === undefined || isAborted) return undefined;
    const first = this.cache.queryAtEndOfTime(query, changes);
    if (first === undefined) return undefined;
    const found = await runRaw(client, first);
    if ('error' in found) return undefined;
    this.cache.store(first, found, changes);
    return found.rows.length === 0 ? found : undefined;
  }

  /** Sends a statement, preceded by the `begin` of its transaction where that is due. */
  async #send(connection: Connection, query: pg.QueryConfig): Promise<Outcome> {
    // In READ COMMITTED, reads before the first change or lock need no transaction.
    const isBegun = connection.isBeginDue && !this.cache.isPure(query);
    if (isBegun) connection.isBeginDue = false;
    return runRaw(connection.client, query, isBegun ? ['begin'] : []);
  }

  async #answer({ connection, query, onOutcome }: Sent, outcome: Outcome): Promise<void> {
    if ('error' in outcome) await this.#afterFailure(connection, query);
    else this.#afterAnswer(connection, query, outcome);
    await onOutcome(outcome);
  }

  async #afterFailure(connection: Connection, query: pg.QueryConfig): Promise<void> {
    if (!connection.isOpen || query.text === 'commit') {
      close(connection);
      return;
    }
    // A read before the delayed `begin` has failed; the transaction must be aborted all the same.
    if (connection.isBeginDue) await this.#send(connection, serializationFailure);
    connection.isAborted = true;
  }

  #afterAnswer(connection: Connection, query: pg.QueryConfig, result: RawResult): void {
    const { cache } = this;
    const { changes } = connection;
    if (query.text === 'commit') {
      if (result.command === 'COMMIT') cache.invalidate(changes);
      close(connection);
      return;
    }
    if (query.text.startsWith('begin;')) connection.isOpen = true;
    else if (cache.isPure(query)) {
      if (changes !== undefined) cache.store(query, result, changes);
    } else connection.changes = joinChanges(changes, cache.changesOf(query, result.count));
    if (connection.isOpen) return;
    cache.invalidate(connection.changes);
    connection.changes = [];
  }

  /**
   * Continues the statements whose locks have been released, one after the other, once all of them are known. Call it
   * after a transaction has ended or failed.
   */
  async resumeUnblocked(): Promise<void> {
    this.#mayResumeMore = true;
    if (this.#isResuming) return;
    this.#isResuming = true;
    try {
      while (this.#mayResumeMore) await this.#resumeOnce();
    } finally {
      this.#isResuming = false;
    }
  }

  async #resumeOnce(): Promise<void> {
    this.#mayResumeMore = false;
    const unblocked = new Map<Blocked, Outcome>();
    for (const blocked of this.#blocked) {
      const outcome = await this.#outcomeOrBlocked(blocked.sent.connection, blocked.work);
      if (outcome !== undefined) unblocked.set(blocked, outcome);
    }
    this.#blocked = this.#blocked.filter((blocked) => !unblocked.has(blocked));
    for (const [{ sent }, outcome] of unblocked) await this.#answer(sent, outcome);
  }

  /**
   * Cancels a statement that waits for a lock. Its sender receives the error if `isHeard` is true. Does nothing for a
   * finished statement.
   */
  async cancel(connection: Connection, { isReported }: { isReported: boolean }): Promise<void> {
    const blocked = this.#blocked.find(({ sent }) => sent.connection === connection);
    if (blocked === undefined) return;
    this.#blocked = this.#blocked.filter((candidate) => candidate !== blocked);
    await this.observer.query('select pg_cancel_backend($1)', [connection.pid]);
    const outcome = await blocked.work;
    if (isReported) await this.#answer(blocked.sent, outcome);
  }

  /** Rolls a transaction back and releases the connection. */
  async rollBack(connection: Connection): Promise<void> {
    await this.cancel(connection, { isReported: false });
    if (connection.isOpen && !connection.isBeginDue) await connection.client.query('rollback');
    close(connection);
    this.release(connection);
    await this.resumeUnblocked();
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.end()));
    await this.observer.end();
  }

  async #outcomeOrBlocked(connection: Connection, work: Promise<Outcome>): Promise<Outcome | undefined> {
    for (;;) {
      const outcome = await orTimeout(work, lockCheckAfterMs);
      if (outcome !== undefined) return outcome;
      if (await this.#isWaiting(connection)) return orTimeout(work, 1);
    }
  }

  /**
   * Whether a statement waits for a lock that a later event releases. Deadlocks do not count: the server ends one of
   * their statements by itself.
   */
  async #isWaiting({ pid }: Connection): Promise<boolean> {
    const pids = [pid, ...this.#blocked.map(({ sent }) => sent.connection.pid)];
    const found = await this.observer.query<{ pid: number; blockers: number[] }>({
      name: 'simulation_blocked',
      text: 'select pid, pg_blocking_pids(pid) as blockers from unnest($1::int[]) as pid',
      values: [pids],
    });
    const blockersOf = new Map(found.rows.map((row) => [row.pid, row.blockers]));
    const reached = new Set<number>();
    const unvisited = [...(blockersOf.get(pid) ?? [])];
    if (unvisited.length === 0) return false;
    for (let next = unvisited.pop(); next !== undefined; next = unvisited.pop()) {
      if (next === pid) return false;
      if (reached.has(next)) continue;
      reached.add(next);
      unvisited.push(...(blockersOf.get(next) ?? []));
    }
    return true;
  }
}

function joinChanges(first: Connection['changes'], second: Connection['changes']): Connection['changes'] {
  return first === undefined || second === undefined ? undefined : [...first, ...second];
}

function close(connection: Connection): void {
  Object.assign(connection, { isBeginDue: false, isOpen: false, isAborted: false, changes: [] });
}

function emptyResult(command: string): RawResult {
  return { rows: [], fields: [], command, count: 0 };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: withSystemScope(url, schema), types: columnTypes });
  // The next statement finds out that the server has ended.
  client.on('error', () => {});
  await client.connect();
  await client.query(`set plan_cache_mode = force_generic_plan; set synchronous_commit = off`);
  return client;
}

async function orTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
