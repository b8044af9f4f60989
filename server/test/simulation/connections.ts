import pg from 'pg';
import { columnTypes, withSystemScope } from '#db/database.ts';

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
}

/** How long a statement may take, in real milliseconds, before somebody looks whether it waits for a lock. */
const patienceMs = 20;

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

  private constructor(url: string, observer: pg.Client) {
    this.#url = url;
    this.observer = observer;
  }

  static async open(url: string): Promise<Connections> {
    const observer = await connect(url);
    return new Connections(url, observer);
  }

  async take(): Promise<Connection> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const client = await connect(this.#url);
    const connection = { client, pid: (client as unknown as { processID: number }).processID };
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
    const work = execute(connection, query);
    const answer = await this.#answerOrBlocked(connection, work);
    if (answer === undefined) {
      this.#blocked.push({ connection, work, deliver });
      return true;
    }
    deliver(answer);
    return false;
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
    await connection.client.query('rollback');
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
      const found = await this.observer.query<{ waits: boolean }>({
        name: 'simulation_blocked',
        text: 'select cardinality(pg_blocking_pids($1)) > 0 as waits',
        values: [connection.pid],
      });
      if (found.rows[0]?.waits === true) return orTimeout(work, 1);
    }
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: withSystemScope(url), types: columnTypes });
  // A server that ends is found by the next statement.
  client.on('error', () => {});
  await client.connect();
  await client.query(`set plan_cache_mode = force_generic_plan; set synchronous_commit = off`);
  return client;
}

async function execute({ client }: Connection, query: Query): Promise<Answer> {
  try {
    const result = await client.query(query.name === undefined ? query.text : { ...query });
    return { rows: inSomeOrder(query.text, result.rows ?? []) };
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
