import { columnTypes, type NamedQuery, withSystemScope } from '@florin/pg';
import { schema } from '@florin/server/operator';
import pg from 'pg';
import { ReadMemory } from './read-memory.ts';
import { type Given, type Outcome, record } from './recorded-packet.ts';

/** Whoever sent a packet. */
export interface Sender {
  /** Told once what became of it. */
  readonly hear: (outcome: Outcome) => Promise<void>;
  /** Told each time that one of its statements waits for a lock. */
  readonly onWait: () => void;
}

/** A packet on its way through the server. */
interface Course {
  readonly connection: Connection;
  readonly queries: readonly NamedQuery[];
  readonly sender: Sender;
  /** What its statements gave so far. */
  readonly given: Given[];
}

/** Statements of a packet that the server has, one of which waits for a lock of another transaction. */
interface Blocked {
  readonly course: Course;
  readonly part: readonly NamedQuery[];
  readonly work: Promise<Outcome>;
}

/** A connection to the real database. Whoever has it has a transaction in it. */
export interface Connection {
  readonly client: pg.Client;
  readonly pid: number;
  /** What begins the transaction, as long as it has not been sent: it goes with the first statement that needs it. */
  begin: NamedQuery | undefined;
  isOpen: boolean;
  /** Whether an error has ended the open transaction: PostgreSQL executes nothing until it is over. */
  isAborted: boolean;
  /** What the open transaction has changed; undefined: it may be anything. */
  changes: readonly string[] | undefined;
}

/** How long a statement may take, in real milliseconds, before somebody looks whether it waits for a lock. */
const patienceMs = 3;

/** Fails as a statement does that cannot be serialized. */
export const refusal: NamedQuery = {
  name: 'simulation_refuse',
  text: 'select simulation_refuse()',
  values: [],
};
const makeRefusal = `create or replace function simulation_refuse() returns void language plpgsql
  as $$ begin raise exception 'could not serialize access' using errcode = '40001'; end $$`;

/**
 * The real connections behind all simulated ones. A statement either answers or waits for a lock, which the server
 * itself is asked: never does a timer decide what the simulation sees.
 *
 * While another transaction is open, the statements of a packet go to the server one after the other: those behind one
 * that waits for a lock would otherwise be executed as soon as that comes free, beside those of others that waited for it too,
 * and chance would say which comes first.
 */
export class Connections {
  readonly #url: string;
  readonly #idle: Connection[] = [];
  readonly #all: Connection[] = [];
  #blocked: Blocked[] = [];
  #isWaking = false;
  #mayWakeMore = false;
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
    await observer.query(makeRefusal);
    return new Connections(url, observer, await ReadMemory.of(observer, options));
  }

  async take(): Promise<Connection> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const client = await connect(this.#url);
    const pid = (client as unknown as { processID: number }).processID;
    const connection: Connection = {
      ...{ client, pid, begin: undefined, isOpen: false, isAborted: false, changes: [] },
    };
    this.#all.push(connection);
    return connection;
  }

  give(connection: Connection): void {
    this.#idle.push(connection);
  }

  /**
   * Runs the statements of a packet up to the first that fails. Resolves when the sender has heard of them or, where one
   * has to wait for a lock, at once; the sender then hears when that has come free.
   */
  run(connection: Connection, queries: readonly NamedQuery[], sender: Sender): Promise<void> {
    return this.#goOn({ connection, queries, sender, given: [] });
  }

  async #goOn(course: Course): Promise<void> {
    const { connection, queries, given, sender } = course;
    for (let next = queries[given.length]; next !== undefined; next = queries[given.length]) {
      const known = this.#known(course, next) ?? (await this.#foundNever(course, next));
      if (known !== undefined) {
        given.push(known);
        continue;
      }
      const part = this.#partOf(course);
      const work = this.#send(connection, part);
      const outcome = await this.#outcomeOrBlocked(connection, work);
      if (outcome === undefined) {
        this.#blocked.push({ course, part, work });
        return sender.onWait();
      }
      if (!(await this.#note(course, part, outcome))) return;
    }
    if (!connection.isOpen) {
      this.memory.changed(connection.changes);
      connection.changes = [];
    }
    await sender.hear({ given });
  }

  /** The answer where it needs no server: the begin of a transaction, the end of one that has only read, what is remembered. */
  #known({ connection, queries }: Course, query: NamedQuery): Given | undefined {
    const { isOpen, isAborted, begin, changes } = connection;
    if (isAborted) return undefined;
    if (query.text === 'begin') {
      connection.begin = query;
      connection.isOpen = true;
      return { rows: [], command: 'BEGIN' };
    }
    if (query.text === 'commit' && begin !== undefined) {
      close(connection);
      return { rows: [], command: 'COMMIT' };
    }
    // Statements that are a transaction together without a begin stay together.
    return isOpen || queries.length === 1 ? this.#recalled(query, changes) : undefined;
  }

  #recalled(query: NamedQuery, changes: Connection['changes']): Given | undefined {
    const rows = changes === undefined ? undefined : this.memory.recall(query, changes);
    return rows === undefined ? undefined : { rows, command: `SELECT ${rows.length}` };
  }

  /** The answer to a look for what is due where nothing ever will be: that is asked first. */
  async #foundNever({ connection }: Course, query: NamedQuery): Promise<Given | undefined> {
    const { client, changes, isAborted } = connection;
    if (changes === undefined || isAborted) return undefined;
    const first = this.memory.toAskFirst(query, changes);
    if (first === undefined) return undefined;
    const [found] = (await record(client, [first])).given;
    if (found === undefined) return undefined;
    this.memory.keep(first, found.rows, changes);
    return found.rows.length === 0 ? found : undefined;
  }

  /** The next statements of a packet that can go to the server together. */
  #partOf({ connection, queries, given }: Course): readonly NamedQuery[] {
    const rest = queries.slice(given.length);
    const { isOpen, isAborted } = connection;
    if (isAborted || !isOpen) return rest;
    if (this.#isAnyOtherOpen(connection)) return rest.slice(0, 1);
    let { changes } = connection;
    const end = rest.findIndex((query, place) => {
      const mayBeKnown =
        changes !== undefined &&
        (this.memory.recall(query, changes) ?? this.memory.toAskFirst(query, changes)) !== undefined;
      changes = joined(changes, this.memory.changesOf(query, 1));
      return place > 0 && mayBeKnown;
    });
    return end < 0 ? rest : rest.slice(0, end);
  }

  #isAnyOtherOpen(connection: Connection): boolean {
    return this.#all.some((other) => other !== connection && other.isOpen && other.begin === undefined);
  }

  /** Sends statements, and before them what begins their transaction where that is needed. */
  async #send(connection: Connection, part: readonly NamedQuery[]): Promise<Outcome> {
    const { client, begin } = connection;
    // In READ COMMITTED, what only reads before anything is changed or locked needs no transaction.
    if (begin === undefined || part.every((query) => this.memory.isPure(query))) return record(client, part);
    connection.begin = undefined;
    const { given, ...rest } = await record(client, [begin, ...part]);
    return { given: given.slice(1), ...rest };
  }

  /** Takes down what the server has answered. False where a statement failed, which the sender then has heard. */
  async #note(course: Course, part: readonly NamedQuery[], { given, error }: Outcome): Promise<boolean> {
    const { connection, sender } = course;
    for (const [place, each] of given.entries()) {
      const query = part[place];
      if (query !== undefined && !connection.isAborted) this.#noteOne(connection, query, each);
    }
    course.given.push(...given);
    if (error === undefined) return true;
    if (!connection.isOpen || part[given.length]?.text === 'commit') close(connection);
    else {
      // What only read before the transaction was begun has failed in it all the same.
      if (connection.begin !== undefined) await this.#send(connection, [refusal]);
      connection.isAborted = true;
    }
    await sender.hear({ given: course.given, error });
    return false;
  }

  #noteOne(connection: Connection, query: NamedQuery, { rows, command }: Given): void {
    const { memory } = this;
    const { changes } = connection;
    if (query.text === 'commit') {
      if (command === 'COMMIT') memory.changed(changes);
      close(connection);
    } else if (memory.isPure(query)) {
      if (changes !== undefined) memory.keep(query, rows, changes);
    } else {
      const found = Number(/\d+$/.exec(command)?.[0] ?? 0);
      connection.changes = joined(changes, memory.changesOf(query, found));
    }
  }

  /**
   * Has those go on whose locks have come free, one after the other, once it is known which they are. To be called when a
   * transaction has ended or failed.
   */
  async wakeBlocked(): Promise<void> {
    this.#mayWakeMore = true;
    if (this.#isWaking) return;
    this.#isWaking = true;
    try {
      while (this.#mayWakeMore) await this.#wakeOnce();
    } finally {
      this.#isWaking = false;
    }
  }

  async #wakeOnce(): Promise<void> {
    this.#mayWakeMore = false;
    const free = new Map<Blocked, Outcome>();
    for (const blocked of this.#blocked) {
      const outcome = await this.#outcomeOrBlocked(blocked.course.connection, blocked.work);
      if (outcome !== undefined) free.set(blocked, outcome);
    }
    this.#blocked = this.#blocked.filter((blocked) => !free.has(blocked));
    for (const [blocked, outcome] of free) await this.#takeUp(blocked, outcome);
  }

  async #takeUp({ course, part }: Blocked, outcome: Outcome): Promise<void> {
    if (await this.#note(course, part, outcome)) await this.#goOn(course);
  }

  /** Cancels a statement that waits for a lock; its sender is told when `isHeard`. Nothing when it has answered. */
  async cancel(connection: Connection, { isHeard }: { isHeard: boolean }): Promise<void> {
    const blocked = this.#blocked.find(({ course }) => course.connection === connection);
    if (blocked === undefined) return;
    this.#blocked = this.#blocked.filter((candidate) => candidate !== blocked);
    await this.observer.query('select pg_cancel_backend($1)', [connection.pid]);
    const outcome = await blocked.work;
    if (isHeard) await this.#takeUp(blocked, outcome);
  }

  /** Ends a transaction without its commit and gives the connection back. */
  async abandon(connection: Connection): Promise<void> {
    await this.cancel(connection, { isHeard: false });
    if (connection.isOpen && connection.begin === undefined) await connection.client.query('rollback');
    close(connection);
    this.give(connection);
    await this.wakeBlocked();
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map(({ client }) => client.end()));
    await this.observer.end();
  }

  async #outcomeOrBlocked(connection: Connection, work: Promise<Outcome>): Promise<Outcome | undefined> {
    for (;;) {
      const outcome = await orTimeout(work, patienceMs);
      if (outcome !== undefined) return outcome;
      if (await this.#isWaiting(connection)) return orTimeout(work, 1);
    }
  }

  /**
   * Whether a statement waits for a lock that comes free by what happens later. One that waits in a circle does not: the
   * server ends one of them by itself.
   */
  async #isWaiting({ pid }: Connection): Promise<boolean> {
    const pids = [pid, ...this.#blocked.map(({ course }) => course.connection.pid)];
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

function joined(first: Connection['changes'], second: Connection['changes']): Connection['changes'] {
  return first === undefined || second === undefined ? undefined : [...first, ...second];
}

function close(connection: Connection): void {
  Object.assign(connection, { begin: undefined, isOpen: false, isAborted: false, changes: [] });
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: withSystemScope(url, schema),
    types: columnTypes,
  });
  // A server that ends is found by the next statement.
  client.on('error', () => {});
  await client.connect();
  await client.query(`set plan_cache_mode = force_generic_plan; set synchronous_commit = off`);
  return client;
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
