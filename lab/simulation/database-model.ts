import { type Database, databaseOver } from '@florin/pg';
import { schema } from '@florin/server/operator';
import type pg from 'pg';
import { type Connection, type Connections, refusal } from './connections.ts';
import type { Faults } from './faults.ts';
import type { ModelProcess } from './process-model.ts';
import { type Outcome, resultOf } from './recorded-query.ts';
import type { Owner } from './scheduler.ts';

export interface DatabaseModelOptions {
  readonly process: ModelProcess;
  readonly connections: Connections;
  readonly faults: Faults;
  /** Owns events that no process causes: a server ends connections. */
  readonly world: Owner;
  /** Statements that a seeded bug runs after the commit of their transaction instead of inside it. */
  readonly lateStatements: ReadonlySet<string>;
}

/** The server's limits for idle transactions and slow statements, as `openDatabase` sets them. */
const idleLimitMs = 30_000;
const statementLimitMs = 15_000;

/**
 * The database as one process sees it: production's own transactions on the real PostgreSQL, with lost connections
 * and serialization failures. A statement is one event on the way there and one on the way back. The connection may
 * be lost before or after the statement is executed. The process then cannot know whether a commit succeeded.
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
    query: (query: pg.QueryConfig) => lend().query(query),
    connect: async () => lend(),
    end: async () => {},
  };
  const listen: Database['listen'] = (_channel, onNotify) => {
    listeners.push(() => process.io(1, 'notified', () => onNotify('')));
  };
  return databaseOver(pool as unknown as pg.Pool, listen, schema.scope);
}

/** A message on a connection. */
interface Sent {
  readonly query: pg.QueryConfig;
  readonly hear: (outcome: Outcome) => void;
}

/** Takes the place of a statement that a seeded bug runs later. */
const placeholder = { name: 'simulation_nothing', text: 'select where false' };

class LentConnection {
  /** Grows with every use. */
  uses = 0;
  readonly #options: DatabaseModelOptions;
  readonly #lent: Set<LentConnection>;
  readonly #listeners: readonly (() => void)[];
  readonly #onError: ((error: Error) => void)[] = [];
  /**
   * Queues, in order: sent statements that are not executed yet, how many of them have arrived, and undelivered
   * answers.
   */
  readonly #sent: Sent[] = [];
  #arrived = 0;
  readonly #answered: (() => void)[] = [];
  #isBusy = false;
  #isDead = false;
  #connection: Connection | undefined;
  #late: pg.QueryConfig[] = [];
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

  /** Same signature as the driver's. */
  query(asked: pg.QueryConfig | string): Promise<pg.QueryResult> {
    const query = typeof asked === 'string' ? { text: asked } : asked;
    return new Promise((resolve, reject) => {
      const hear = (outcome: Outcome) =>
        'error' in outcome ? reject(outcome.error) : resolve(resultOf(outcome));
      this.#send({ query, hear });
    });
  }

  /** A statement that is sent during another one follows right behind it. */
  #send(sent: Sent): void {
    const { process, faults } = this.#options;
    this.#sent.push(sent);
    process.io(faults.random.between(0, 3), labelOf(sent.query), () => {
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
    await this.#effect(next.query, async (outcome) => {
      this.uses += 1;
      this.#answered.push(() => next.hear(outcome));
      const label = `${labelOf(next.query)} ${wordsFor(outcome)}`;
      process.io(faults.random.between(0, 3), label, () => this.#answered.shift()?.());
      this.#isBusy = false;
      await this.#takeUp();
    });
  }

  /** The connection ends. The server rolls uncommitted work back. */
  async die(): Promise<void> {
    const wasDead = this.#isDead;
    this.#isDead = true;
    await this.#abandon();
    if (!wasDead) for (const hear of this.#onError) hear(terminated());
  }

  async #effect(query: pg.QueryConfig, tell: (outcome: Outcome) => Promise<void>): Promise<void> {
    if (this.#isDead) return tell({ error: terminated() });
    if (query.text === 'rollback') {
      this.#forget();
      await this.#abandon();
      return tell({ rows: [], fields: [], command: 'ROLLBACK', count: 0 });
    }
    const { faults } = this.#options;
    const isRefused = faults.strikes('serializationFailure');
    const isLost = faults.strikes('connectionLost');
    if (isLost && faults.random.chance(0.5)) {
      await this.die();
      return tell({ error: terminated() });
    }
    await this.#run(isRefused ? refusal : query, async (outcome) => {
      if (!isLost) return tell(outcome);
      await this.die();
      return tell({ error: terminated() });
    });
  }

  async #run(query: pg.QueryConfig, tell: (outcome: Outcome) => Promise<void>): Promise<void> {
    const { connections, process, world, lateStatements } = this.#options;
    this.#connection ??= await connections.take();
    const connection = this.#connection;
    this.#lent.add(this);
    const isLate = lateStatements.has(query.name ?? '');
    if (isLate) this.#late.push(query);
    if (query.name === 'webhooks_insert_events') this.#mayNotify = true;
    await connections.run({
      connection,
      query: isLate ? placeholder : query,
      hear: async (outcome) => {
        const isOver = !connection.isOpen;
        if (isOver) this.#finish(connection);
        await tell(outcome);
        const isUndone = 'error' in outcome;
        if (isUndone) this.#forget();
        if (isOver || isUndone) await connections.wakeBlocked();
        if (isOver) this.#afterCommit();
      },
      onWait: () => {
        process.scheduler.note(`${process.name} waits for a lock: ${query.name ?? query.text}`);
        this.uses += 1;
        const { uses } = this;
        process.scheduler.after(statementLimitMs, world, 'statement time-out', async () => {
          if (this.uses === uses && this.#connection === connection)
            await connections.cancel(connection, { isHeard: true });
        });
      },
    });
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

  /** The statements that a seeded bug runs after the commit, one at a time, while the process is alive. */
  #runLate(): void {
    const { process, faults } = this.#options;
    for (const query of this.#late) {
      const options = { ...this.#options, lateStatements: new Set<string>() };
      const connection = new LentConnection(options, this.#lent, this.#listeners);
      process.io(faults.random.between(0, 4_000), 'late statement', () => {
        // After the commit, no code is left that could handle an error.
        connection.query(query).catch(() => {});
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

function labelOf({ name, text }: pg.QueryConfig): string {
  return `sql ${name ?? text}`;
}

function wordsFor(outcome: Outcome): string {
  if (!('error' in outcome)) return `gave ${outcome.rows.length}`;
  return `failed: ${outcome.error instanceof Error ? outcome.error.message : outcome.error}`;
}
