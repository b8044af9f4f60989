import pg from 'pg';
import { columnTypes } from '#db/column-types.ts';
import { withSystemScope } from '#db/database.ts';
import { askQuickly, commitQuickly, prepareQuickly } from './quick-query.ts';
import { ReadMemory } from './read-memory.ts';

/** A statement as the database room hands it to its driver. */
export interface Query {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

export type Rows = readonly Record<string, unknown>[];
/** What PostgreSQL said. */
export type Answer = { readonly rows: Rows } | { readonly error: Error };

/** A statement that waits for a lock of another transaction. */
interface Blocked {
  readonly connection: Connection;
  readonly work: Promise<Answer>;
  readonly deliver: (answer: Answer) => void;
}

/** A connection to the real database. Whoever has it has a transaction in it. */
export interface Connection {
  readonly client: pg.Client;
  readonly pid: number;
  /** What begins the transaction, as long as it has not been sent: it goes with the first statement that is. */
  begins: string;
  isOpen: boolean;
  /** What the open transaction has changed; undefined: it may be anything. */
  changes: readonly string[] | undefined;
}

/** How long a statement may take, in real milliseconds, before somebody looks whether it waits for a lock. */
const patienceMs = 3;

/**
 * The real connections behind all simulated ones. A statement either answers or waits for a lock, which the server
 * itself is asked: never does a timer decide what the simulation sees.
 */
export class Connections {
  readonly #url: string;
  readonly #idle: Connection[] = [];
  readonly #all: Connection[] = [];
  #blocked: Blocked[] = [];
  /** For looks at locks and for the checker; never in a transaction. */
  readonly observer: pg.Client;
  readonly memory: ReadMemory;

  private constructor(url: string, observer: pg.Client, memory: ReadMemory) {
    this.#url = url;
    this.observer = observer;
    this.memory = memory;
  }

  /** With `remembers` false each statement is asked, whether its answer is known or not. */
  static async open(url: string, options: { remembers?: boolean } = {}): Promise<Connections> {
    const observer = await connect(url);
    return new Connections(url, observer, await ReadMemory.of(observer, options));
  }

  async take(): Promise<Connection> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const client = await connect(this.#url);
    const pid = (client as unknown as { processID: number }).processID;
    const connection = { client, pid, begins: '', isOpen: false, changes: [] };
    this.#all.push(connection);
    return connection;
  }

  give(connection: Connection): void {
    this.#idle.push(connection);
  }

  /**
   * Runs a statement. Its answer is handed to `deliver` now or, when it has to wait for a lock, when that comes free.
   * True when it waits.
   */
  async run(connection: Connection, query: Query, deliver: (answer: Answer) => void): Promise<boolean> {
    const known = this.#known(connection, query);
    if (known !== undefined) {
      deliver({ rows: known });
      return false;
    }
    const work = this.#execute(connection, query);
    const answer = await this.#answerOrBlocked(connection, work);
    if (answer === undefined) {
      this.#blocked.push({ connection, work, deliver });
      return true;
    }
    deliver(answer);
    return false;
  }

  /** The answer where it needs no server: the begin of a transaction, the end of one that has only read, what is remembered. */
  #known(connection: Connection, query: Query): Rows | undefined {
    if (query.text.startsWith('begin')) {
      connection.begins = query.text;
      connection.isOpen = true;
      return [];
    }
    if (query.text === 'commit' && connection.begins !== '') {
      close(connection);
      return [];
    }
    return connection.changes === undefined
      ? undefined
      : this.memory.recall(query, connection.changes)?.slice();
  }

  async #execute(connection: Connection, query: Query): Promise<Answer> {
    const { memory } = this;
    const { client, isOpen, changes } = connection;
    const isPure = memory.isPure(query);
    const isCommit = query.text === 'commit';
    // In READ COMMITTED, what only reads before anything is changed or locked needs no transaction.
    const begins = isPure && connection.begins === 'begin' ? '' : connection.begins;
    if (begins !== '') connection.begins = '';
    const first = isPure && changes !== undefined ? memory.toAskFirst(query, changes) : undefined;
    if (first !== undefined && changes !== undefined) {
      const answer = await ask(client, begins, first);
      if ('error' in answer) return answer;
      memory.keep(first, answer.rows, changes);
      if (answer.rows.length === 0) return answer;
    }
    const answer = await ask(client, begins, query);
    if ('error' in answer) return answer;
    if (isPure) {
      if (changes !== undefined) memory.keep(query, answer.rows, changes);
      return answer;
    }
    const all = isCommit ? changes : joined(changes, memory.changesOf(query, answer.found));
    if (isCommit) close(connection);
    if (isCommit || !isOpen) memory.changed(all);
    else connection.changes = all;
    return answer;
  }

  /** Delivers the answers of statements whose locks have come free. To be called when a transaction has ended. */
  async wakeBlocked(): Promise<void> {
    const waiting = this.#blocked;
    this.#blocked = [];
    for (const blocked of waiting) {
      const answer = await this.#answerOrBlocked(blocked.connection, blocked.work);
      if (answer === undefined) this.#blocked.push(blocked);
      else blocked.deliver(answer);
    }
  }

  /** Cancels a statement that waits for a lock; its answer is delivered when `isHeard`. Nothing when it has answered. */
  async cancel(connection: Connection, { isHeard }: { isHeard: boolean }): Promise<void> {
    const blocked = this.#blocked.find((candidate) => candidate.connection === connection);
    if (blocked === undefined) return;
    this.#blocked = this.#blocked.filter((candidate) => candidate !== blocked);
    await this.observer.query('select pg_cancel_backend($1)', [connection.pid]);
    const answer = await blocked.work;
    if (isHeard) blocked.deliver(answer);
  }

  /** Ends a transaction without its commit and gives the connection back. */
  async abandon(connection: Connection): Promise<void> {
    await this.cancel(connection, { isHeard: false });
    if (connection.isOpen && connection.begins === '') await connection.client.query('rollback');
    close(connection);
    this.give(connection);
    await this.wakeBlocked();
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.end()));
    await this.observer.end();
  }

  async #answerOrBlocked(connection: Connection, work: Promise<Answer>): Promise<Answer | undefined> {
    for (;;) {
      const answer = await orTimeout(work, patienceMs);
      if (answer !== undefined) return answer;
      if (await this.#isWaiting(connection)) return orTimeout(work, 1);
    }
  }

  /**
   * Whether a statement waits for a lock that comes free by what happens later. One that waits in a circle does not: the
   * server ends one of them by itself.
   */
  async #isWaiting({ pid }: Connection): Promise<boolean> {
    const pids = [pid, ...this.#blocked.map(({ connection }) => connection.pid)];
    const found = await this.observer.query<{ pid: number; blockers: number[] }>({
      name: 'simulation_blocked',
      text: 'select pid, pg_blocking_pids(pid) as blockers from unnest($1::int[]) as pid',
      values: [pids],
    });
    const blockersOf = new Map(found.rows.map((row) => [row.pid, row.blockers]));
    const reached = new Set<number>();
    const open = [...(blockersOf.get(pid) ?? [])];
    if (open.length === 0) return false;
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (next === pid) return false;
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...(blockersOf.get(next) ?? []));
    }
    return true;
  }
}

type Changes = readonly string[] | undefined;

function joined(first: Changes, second: Changes): Changes {
  return first === undefined || second === undefined ? undefined : [...first, ...second];
}

function close(connection: Connection): void {
  connection.begins = '';
  connection.isOpen = false;
  connection.changes = [];
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: withSystemScope(url),
    types: columnTypes,
  });
  // A server that ends is found by the next statement.
  client.on('error', () => {});
  await client.connect();
  await client.query(`set plan_cache_mode = force_generic_plan; set synchronous_commit = off`);
  await prepareQuickly(client);
  return client;
}

/** Sends a statement, and before it what begins its transaction. */
async function ask(
  client: pg.Client,
  begins: string,
  query: Query,
): Promise<{ readonly rows: Rows; readonly found: number } | { readonly error: Error }> {
  const { name, text, values = [] } = query;
  try {
    if (text === 'commit') return await commitQuickly(client);
    const isQuick = name !== undefined && (begins === '' || begins === 'begin');
    if (!isQuick && begins !== '') await client.query(begins);
    if (isQuick) {
      const given = await askQuickly(client, { name, text, values }, { begins: begins !== '' });
      return { rows: inSomeOrder(text, given.rows), found: given.found };
    }
    const { rows = [], rowCount } = await client.query<Record<string, unknown>>({ ...query });
    return { rows: inSomeOrder(text, rows), found: rowCount ?? 1 };
  } catch (error) {
    if (error instanceof Error) return { error };
    throw error;
  }
}

/**
 * Without `order by` rows come as they lie in the table, which depends on histories before this one. In an order of
 * their own instead, as SQL allows it.
 */
function inSomeOrder(text: string, rows: Record<string, unknown>[]): Rows {
  if (rows.length < 2 || /order by/i.test(text)) return rows;
  const key = (row: Record<string, unknown>) =>
    JSON.stringify(row, (_name, value) => (typeof value === 'bigint' ? `${value}` : value));
  return rows
    .map((row) => ({ row, key: key(row) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ row }) => row);
}

async function orTimeout<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
