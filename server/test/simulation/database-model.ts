import type pg from 'pg';
import { type Database, databaseOver } from '#db/database.ts';
import type { Answer, Connection, Connections, Query } from './connections.ts';
import type { Faults } from './faults.ts';
import type { ModelProcess } from './process-model.ts';
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
 * The database as one process has it: production's own transactions over the real PostgreSQL, with connections that
 * die, commits whose answer is lost, and serialization failures. The last writes and the commit, which production sends in
 * one packet, come one behind the other without a wait: the connection may be lost before, among and after them, the
 * commit behind a failed write fails as well, and whoever hears of a loss does not know whether the commit stands.
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
  const pool = {
    query: (query: Query) => {
      const connection = new LentConnection(options, lent, listeners);
      return connection.query(query, { isAlone: true });
    },
    connect: async () => new LentConnection(options, lent, listeners),
    end: async () => {},
  };
  return databaseOver(pool as unknown as pg.Pool, (_channel, onNotify) => {
    listeners.push(() => process.io(1, 'notified', () => onNotify('')));
  });
}

type State = 'fresh' | 'open' | 'failed' | 'dead';

class LentConnection {
  /** Grows with every use. */
  uses = 0;
  readonly #options: DatabaseModelOptions;
  readonly #lent: Set<LentConnection>;
  readonly #listeners: readonly (() => void)[];
  readonly #onError: ((error: Error) => void)[] = [];
  #state: State = 'fresh';
  /** The statement that is under way, and those that were sent behind it: a connection answers in order. */
  #begun: (() => void) | undefined;
  readonly #waiting: (() => void)[] = [];
  #connection: Connection | undefined;
  #late: Query[] = [];
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

  query(asked: Query | string, { isAlone = false } = {}): Promise<{ rows: unknown }> {
    const query = typeof asked === 'string' ? { text: asked } : asked;
    const { process, faults } = this.#options;
    const label = `sql ${query.name ?? query.text.slice(0, 20)}`;
    return new Promise((resolve, reject) => {
      const begin = () =>
        process.io(faults.random.between(0, 3), label, () =>
          this.#effect(query, isAlone, (answer) => {
            this.uses += 1;
            process.io(faults.random.between(0, 3), `${label} ${outcomeOf(answer)}`, () => {
              if ('error' in answer) reject(answer.error);
              else resolve({ rows: answer.rows });
              this.#begun = this.#waiting.shift();
              this.#begun?.();
            });
          }),
        );
      if (this.#begun !== undefined) {
        this.#waiting.push(begin);
        return;
      }
      this.#begun = begin;
      begin();
    });
  }

  /** The connection ends: the server takes back what was not committed. */
  async die(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#lent.delete(this);
    if (this.#state !== 'dead' && connection !== undefined)
      await this.#options.connections.abandon(connection);
    this.#state = 'dead';
    for (const hear of this.#onError) hear(terminated());
    for (const begin of this.#waiting.splice(0)) begin();
  }

  async #effect(query: Query, isAlone: boolean, answer: (answer: Answer) => void): Promise<void> {
    const { faults, connections } = this.#options;
    if (this.#state === 'dead') return answer({ error: terminated() });
    if (query.text === 'rollback') return this.#rollback(answer);
    // What was sent behind a statement that failed is not executed.
    if (this.#state === 'failed') return answer({ error: aborted() });
    if (faults.strikes('serializationFailure')) {
      await this.#abandon('failed');
      return answer({ error: Object.assign(new Error('could not serialize access'), { code: '40001' }) });
    }
    const isLost = faults.strikes('connectionLost');
    if (isLost && faults.random.chance(0.5)) {
      await this.die();
      return answer({ error: terminated() });
    }
    if (query.name !== undefined && this.#options.lateStatements.has(query.name)) {
      this.#late.push(query);
      return answer({ rows: [] });
    }
    this.#connection ??= await connections.take();
    this.#lent.add(this);
    this.#state = 'open';
    if (query.name === 'webhooks_insert_events') this.#mayNotify = true;
    const isEnd = isAlone || query.text === 'commit';
    // The answer is lost with the connection; a commit stands all the same.
    await this.#run(query, isEnd, (given) => answer(isLost ? { error: terminated() } : given));
    if (isLost && !isEnd) await this.die();
  }

  async #run(query: Query, isEnd: boolean, answer: (answer: Answer) => void): Promise<void> {
    const { connections, process, world } = this.#options;
    const connection = this.#connection;
    if (connection === undefined) throw new Error('a statement without a connection');
    const waits = await connections.run(connection, query, (given) => {
      if (isEnd) this.#finish(connection);
      answer(given);
    });
    if (waits) {
      process.scheduler.note(`${process.name} waits for a lock: ${query.name ?? query.text}`);
      const { uses } = this;
      process.scheduler.after(statementLimitMs, world, 'statement time-out', async () => {
        if (this.uses === uses && this.#connection === connection)
          await connections.cancel(connection, { isHeard: true });
      });
      return;
    }
    if (!isEnd) return;
    await connections.wakeBlocked();
    await this.#runLate();
    if (this.#mayNotify) for (const ring of this.#listeners) ring();
  }

  #finish(connection: Connection): void {
    this.#options.connections.give(connection);
    this.#connection = undefined;
    this.#state = 'fresh';
    this.#lent.delete(this);
  }

  /** What a seeded bug does after the commit, each statement alone, as far as the process lives. */
  async #runLate(): Promise<void> {
    const late = this.#late;
    this.#late = [];
    for (const query of late) {
      const connection = new LentConnection(
        { ...this.#options, lateStatements: new Set() },
        this.#lent,
        this.#listeners,
      );
      const { process, faults } = this.#options;
      process.io(faults.random.between(0, 4_000), 'late statement', () => {
        // Whoever does this after the commit has nobody left to tell of an error.
        connection.query(query, { isAlone: true }).catch(() => undefined);
      });
    }
  }

  async #rollback(answer: (answer: Answer) => void): Promise<void> {
    this.#late = [];
    await this.#abandon('fresh');
    answer({ rows: [] });
  }

  async #abandon(state: State): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#state = state;
    this.#lent.delete(this);
    if (connection !== undefined) await this.#options.connections.abandon(connection);
  }
}

function terminated(): Error {
  return new Error('Connection terminated unexpectedly');
}

function aborted(): Error {
  return Object.assign(new Error('current transaction is aborted'), { code: '25P02' });
}

function outcomeOf(answer: Answer): string {
  return 'error' in answer ? `failed: ${answer.error.message}` : `gave ${answer.rows.length}`;
}
