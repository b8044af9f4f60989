import { type Database, databaseOver, type NamedQuery, Packet } from '@florin/pg';
import { schema } from '@florin/server/operator';
import type pg from 'pg';
import { type Connection, type Connections, refusal } from './connections.ts';
import type { Faults } from './faults.ts';
import type { ModelProcess } from './process-model.ts';
import { answer, type Outcome } from './recorded-packet.ts';
import type { Owner } from './scheduler.ts';

export interface DatabaseModelOptions {
  readonly process: ModelProcess;
  readonly connections: Connections;
  readonly faults: Faults;
  /** Whoever does what processes do not do themselves: servers that end connections. */
  readonly world: Owner;
  /** Statements that, by a seeded bug, run after the commit of their transaction instead of in it. */
  readonly lateStatements: ReadonlySet<string>;
}

/** What the server does to connections and statements that take too long, as `openDatabase` has set it. */
const idleLimitMs = 30_000;
const statementLimitMs = 15_000;

/**
 * The database as one process has it: production's own transactions and packets over the real PostgreSQL, with connections
 * that die, commits whose answer is lost, and serialization failures. A packet is one event on its way there and one on its
 * way back. The connection may be lost before it arrives, behind any of its statements, and when all are executed; of what was
 * executed some answers, all or none may have come back by then. Whoever hears of a loss does not know whether the commit
 * stands.
 */
export function databaseModel(options: DatabaseModelOptions): Database {
  const lent = new Set<LentConnection>();
  const { process, world } = options;
  process.onDeath.push(async () => {
    for (const connection of lent) await connection.die();
  });
  process.onPause.push((ms) => {
    if (ms < idleLimitMs) return;
    for (const connection of lent) {
      const { uses } = connection;
      process.scheduler.after(idleLimitMs, world, 'idle transaction ended', async () => {
        if (connection.uses === uses) await connection.die();
      });
    }
  });
  const listeners: (() => void)[] = [];
  const lend = () => new LentConnection(options, lent, listeners);
  const pool = {
    query: (packet: Packet, callback: Callback) => lend().query(packet, callback),
    connect: async () => lend(),
    end: async () => {},
  };
  const listen: Database['listen'] = (_channel, onNotify) => {
    listeners.push(() => process.io(1, 'notified', () => onNotify('')));
  };
  return databaseOver(pool as unknown as pg.Pool, listen, schema.scope);
}

type Callback = (error: unknown) => void;

/** Something that was sent over a connection. */
interface Sent {
  readonly label: string;
  readonly queries: readonly NamedQuery[] | 'rollback';
  readonly hear: (outcome: Outcome) => void;
}

/** What a seeded bug executes later, as it is executed in its place. */
const nothing: NamedQuery = { name: 'simulation_nothing', text: 'select where false', values: [] };

class LentConnection {
  /** Grows with every use. */
  uses = 0;
  readonly #options: DatabaseModelOptions;
  readonly #lent: Set<LentConnection>;
  readonly #listeners: readonly (() => void)[];
  readonly #onError: ((error: Error) => void)[] = [];
  /** What was sent and not taken up yet, how much of it has arrived, and what was answered and not heard yet: each in its order. */
  readonly #sent: Sent[] = [];
  #arrived = 0;
  readonly #answered: (() => void)[] = [];
  #isBusy = false;
  #isDead = false;
  #connection: Connection | undefined;
  #late: NamedQuery[] = [];
  #mayNotify = false;

  constructor(options: DatabaseModelOptions, lent: Set<LentConnection>, listeners: readonly (() => void)[]) {
    this.#options = options;
    this.#lent = lent;
    this.#listeners = listeners;
  }

  on(_event: 'error', hear: (error: Error) => void): void {
    this.#onError.push(hear);
  }

  off(): void {
    this.#onError.length = 0;
  }

  release(): void {
    this.#lent.delete(this);
  }

  /** As the driver's: it takes a packet, or the statement that ends a transaction without its commit. */
  query(asked: Packet | 'rollback', callback: Callback = () => {}): Promise<void> | undefined {
    if (asked instanceof Packet) {
      asked.callback = callback;
      const names = asked.queries.map(({ name }) => name).join(', ');
      this.#send({
        label: `sql ${names}`,
        queries: asked.queries,
        hear: (outcome) => answer(asked, outcome),
      });
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const hear = ({ error }: Outcome) => (error === undefined ? resolve() : reject(error));
      this.#send({ label: 'sql rollback', queries: asked, hear });
    });
  }

  /** What is sent while something is under way is taken up right behind it. */
  #send(sent: Sent): void {
    const { process, faults } = this.#options;
    this.#sent.push(sent);
    process.io(faults.random.between(0, 3), sent.label, () => {
      this.#arrived += 1;
      return this.#takeUp();
    });
  }

  async #takeUp(): Promise<void> {
    if (this.#isBusy || this.#arrived === 0) return;
    const next = this.#sent.shift();
    if (next === undefined) return;
    this.#arrived -= 1;
    this.#isBusy = true;
    const { process, faults } = this.#options;
    await this.#effect(next.queries, async (outcome) => {
      this.uses += 1;
      this.#answered.push(() => next.hear(outcome));
      const label = `${next.label} ${wordsFor(outcome)}`;
      process.io(faults.random.between(0, 3), label, () => this.#answered.shift()?.());
      this.#isBusy = false;
      await this.#takeUp();
    });
  }

  /** The connection ends: the server takes back what was not committed. */
  async die(): Promise<void> {
    const wasDead = this.#isDead;
    this.#isDead = true;
    await this.#abandon();
    if (!wasDead) for (const hear of this.#onError) hear(terminated());
  }

  async #effect(queries: Sent['queries'], tell: (outcome: Outcome) => Promise<void>): Promise<void> {
    if (this.#isDead) return tell({ given: [], error: terminated() });
    if (queries === 'rollback') {
      this.#forget();
      await this.#abandon();
      return tell({ given: [] });
    }
    const { reached, loss } = this.#planOf(queries);
    if (reached.length === 0) {
      await this.die();
      return tell({ given: [], error: terminated() });
    }
    await this.#run(reached, async (outcome) => {
      if (loss === undefined) return tell(outcome);
      await this.die();
      return tell({ given: outcome.given.slice(0, loss.heard), error: terminated() });
    });
  }

  /** What goes wrong with a packet: the statements that the server comes to, and what is heard of them where it is lost. */
  #planOf(queries: readonly NamedQuery[]): {
    readonly reached: readonly NamedQuery[];
    readonly loss: { readonly heard: number } | undefined;
  } {
    const { faults } = this.#options;
    const failing = queries.findIndex(() => faults.strikes('serializationFailure'));
    const lost = queries.findIndex(() => faults.strikes('connectionLost'));
    const planned = failing < 0 ? queries : [...queries.slice(0, failing), refusal];
    if (lost < 0) return { reached: planned, loss: undefined };
    const executed = lost + (faults.random.chance(0.5) ? 1 : 0);
    const heard = faults.random.between(0, executed);
    // Without a begin, what is not executed to its end is as if nothing of it had been.
    const isUndone = executed < queries.length && this.#isOutside(queries);
    return { reached: isUndone ? [] : planned.slice(0, executed), loss: { heard } };
  }

  /** Whether statements are a transaction of their own, without a begin and a commit. */
  #isOutside(queries: readonly NamedQuery[]): boolean {
    return this.#connection === undefined && queries[0]?.text !== 'begin';
  }

  async #run(queries: readonly NamedQuery[], tell: (outcome: Outcome) => Promise<void>): Promise<void> {
    const { connections, process, world, lateStatements } = this.#options;
    this.#connection ??= await connections.take();
    const connection = this.#connection;
    this.#lent.add(this);
    const late = queries.filter(({ name }) => lateStatements.has(name));
    this.#late.push(...late);
    if (queries.some(({ name }) => name === 'webhooks_insert_events')) this.#mayNotify = true;
    const isLate = (query: NamedQuery) => late.includes(query);
    await connections.run(
      connection,
      queries.map((query) => (isLate(query) ? nothing : query)),
      {
        hear: async (outcome) => {
          const isOver = !connection.isOpen;
          if (isOver) this.#finish(connection);
          await tell(outcome);
          const isUndone = outcome.error !== undefined;
          if (isUndone) this.#forget();
          if (isOver || isUndone) await connections.wakeBlocked();
          if (isOver) this.#afterCommit();
        },
        onWait: () => {
          process.scheduler.note(`${process.name} waits for a lock: ${queries.map(({ name }) => name)}`);
          this.uses += 1;
          const { uses } = this;
          process.scheduler.after(statementLimitMs, world, 'statement time-out', async () => {
            if (this.uses === uses && this.#connection === connection)
              await connections.cancel(connection, { isHeard: true });
          });
        },
      },
    );
  }

  #finish(connection: Connection): void {
    this.#options.connections.give(connection);
    this.#connection = undefined;
    this.#lent.delete(this);
  }

  #afterCommit(): void {
    if (this.#mayNotify) for (const ring of this.#listeners) ring();
    this.#runLate();
    this.#forget();
  }

  #forget(): void {
    this.#late = [];
    this.#mayNotify = false;
  }

  /** What a seeded bug does after the commit, each statement alone, as far as the process lives. */
  #runLate(): void {
    const { process, faults } = this.#options;
    for (const query of this.#late) {
      const options = { ...this.#options, lateStatements: new Set<string>() };
      const connection = new LentConnection(options, this.#lent, this.#listeners);
      // Whoever does this after the commit has nobody left to tell of an error.
      process.io(faults.random.between(0, 4_000), 'late statement', () => {
        connection.query(new Packet([query]));
      });
    }
  }

  async #abandon(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#lent.delete(this);
    if (connection !== undefined) await this.#options.connections.abandon(connection);
  }
}

function terminated(): Error {
  return new Error('Connection terminated unexpectedly');
}

function wordsFor({ given, error }: Outcome): string {
  if (error !== undefined)
    return `failed behind ${given.length}: ${error instanceof Error ? error.message : error}`;
  return `gave ${given.map(({ rows }) => rows.length).join(', ')}`;
}
