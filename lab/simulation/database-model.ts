import { type Database, databaseOver } from '@florin/pg';
import { schema } from '@florin/server/operator';
import type pg from 'pg';
import { type Connection, type Connections, serializationFailure } from './connections.ts';
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
  const inUse = new Set<PooledConnection>();
  const { process, world } = options;
  process.onDeath.push(async () => {
    for (const connection of inUse) await connection.disconnect();
  });
  process.onPause.push((ms) => {
    if (ms < idleLimitMs) return;
    for (const connection of inUse) {
      const { uses } = connection;
      process.scheduler.after(idleLimitMs, world, 'idle transaction ended', async () => {
        if (connection.uses === uses) await connection.disconnect();
      });
    }
  });
  const listeners: (() => void)[] = [];
  const checkOut = () => new PooledConnection(options, inUse, listeners);
  const pool = {
    query: (query: pg.QueryConfig) => checkOut().query(query),
    connect: async () => checkOut(),
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
  readonly onOutcome: (outcome: Outcome) => void;
}

/** Takes the place of a statement that a seeded bug runs later. */
const placeholder = { name: 'simulation_nothing', text: 'select where false' };

class PooledConnection {
  /** Grows with every use. */
  uses = 0;
  readonly #options: DatabaseModelOptions;
  readonly #inUse: Set<PooledConnection>;
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
  #isDisconnected = false;
  #connection: Connection | undefined;
  #lateStatements: pg.QueryConfig[] = [];
  #mayNotify = false;

  constructor(
    options: DatabaseModelOptions,
    inUse: Set<PooledConnection>,
    listeners: readonly (() => void)[],
  ) {
    this.#options = options;
    this.#inUse = inUse;
    this.#listeners = listeners;
  }

  on(_event: 'error', onOutcome: (error: Error) => void): void {
    this.#onError.push(onOutcome);
  }

  off(): void {
    this.#onError.length = 0;
  }

  release(): void {
    this.#inUse.delete(this);
  }

  /** Same signature as the driver's. */
  query(input: pg.QueryConfig | string): Promise<pg.QueryResult> {
    const query = typeof input === 'string' ? { text: input } : input;
    return new Promise((resolve, reject) => {
      const onOutcome = (outcome: Outcome) =>
        'error' in outcome ? reject(outcome.error) : resolve(resultOf(outcome));
      this.#send({ query, onOutcome });
    });
  }

  /** A statement that is sent during another one follows right behind it. */
  #send(sent: Sent): void {
    const { process, faults } = this.#options;
    this.#sent.push(sent);
    process.io(faults.random.between(0, 3), labelOf(sent.query), () => {
      this.#arrived += 1;
      return this.#executeNext();
    });
  }

  async #executeNext(): Promise<void> {
    if (this.#isBusy || this.#arrived === 0) return;
    const next = this.#sent.shift();
    if (next === undefined) return;
    this.#arrived -= 1;
    this.#isBusy = true;
    const { process, faults } = this.#options;
    await this.#execute(next.query, async (outcome) => {
      this.uses += 1;
      this.#answered.push(() => next.onOutcome(outcome));
      const label = `${labelOf(next.query)} ${describeOutcome(outcome)}`;
      process.io(faults.random.between(0, 3), label, () => this.#answered.shift()?.());
      this.#isBusy = false;
      await this.#executeNext();
    });
  }

  /** The connection ends. The server rolls uncommitted work back. */
  async disconnect(): Promise<void> {
    const wasDisconnected = this.#isDisconnected;
    this.#isDisconnected = true;
    await this.#rollBack();
    if (!wasDisconnected) for (const onOutcome of this.#onError) onOutcome(connectionTerminated());
  }

  async #execute(query: pg.QueryConfig, respond: (outcome: Outcome) => Promise<void>): Promise<void> {
    if (this.#isDisconnected) return respond({ error: connectionTerminated() });
    if (query.text === 'rollback') {
      this.#clearLate();
      await this.#rollBack();
      return respond({ rows: [], fields: [], command: 'ROLLBACK', count: 0 });
    }
    const { faults } = this.#options;
    const isSerializationFailure = faults.occurs('serializationFailure');
    const isLost = faults.occurs('connectionLost');
    if (isLost && faults.random.chance(0.5)) {
      await this.disconnect();
      return respond({ error: connectionTerminated() });
    }
    await this.#run(isSerializationFailure ? serializationFailure : query, async (outcome) => {
      if (!isLost) return respond(outcome);
      await this.disconnect();
      return respond({ error: connectionTerminated() });
    });
  }

  async #run(query: pg.QueryConfig, respond: (outcome: Outcome) => Promise<void>): Promise<void> {
    const { connections, process, world, lateStatements } = this.#options;
    this.#connection ??= await connections.acquire();
    const connection = this.#connection;
    this.#inUse.add(this);
    const runsLate = lateStatements.has(query.name ?? '');
    if (runsLate) this.#lateStatements.push(query);
    if (query.name === 'webhooks_insert_events') this.#mayNotify = true;
    await connections.run({
      connection,
      query: runsLate ? placeholder : query,
      onOutcome: async (outcome) => {
        const isOver = !connection.isOpen;
        if (isOver) this.#finish(connection);
        await respond(outcome);
        const hasFailed = 'error' in outcome;
        if (hasFailed) this.#clearLate();
        if (isOver || hasFailed) await connections.resumeUnblocked();
        if (isOver) this.#afterCommit();
      },
      onWait: () => {
        process.scheduler.trace(`${process.name} waits for a lock: ${query.name ?? query.text}`);
        this.uses += 1;
        const { uses } = this;
        process.scheduler.after(statementLimitMs, world, 'statement time-out', async () => {
          if (this.uses === uses && this.#connection === connection)
            await connections.cancel(connection, { isReported: true });
        });
      },
    });
  }

  #finish(connection: Connection): void {
    this.#options.connections.release(connection);
    this.#connection = undefined;
    this.#inUse.delete(this);
  }

  #afterCommit(): void {
    if (this.#mayNotify) for (const notify of this.#listeners) notify();
    this.#runLate();
    this.#clearLate();
  }

  #clearLate(): void {
    this.#lateStatements = [];
    this.#mayNotify = false;
  }

  /** The statements that a seeded bug runs after the commit, one at a time, while the process is alive. */
  #runLate(): void {
    const { process, faults } = this.#options;
    for (const query of this.#lateStatements) {
      const options = { ...this.#options, lateStatements: new Set<string>() };
      const connection = new PooledConnection(options, this.#inUse, this.#listeners);
      process.io(faults.random.between(0, 4_000), 'late statement', () => {
        // After the commit, no code is left that could handle an error.
        connection.query(query).catch(() => {});
      });
    }
  }

  async #rollBack(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#inUse.delete(this);
    if (connection !== undefined) await this.#options.connections.rollBack(connection);
  }
}

function connectionTerminated(): Error {
  return new Error('Connection terminated unexpectedly');
}

function labelOf({ name, text }: pg.QueryConfig): string {
  return `sql ${name ?? text}`;
}

function describeOutcome(outcome: Outcome): string {
  if (!('error' in outcome)) return `returned ${outcome.rows.length} rows`;
  return `failed: ${outcome.error instanceof Error ? outcome.error.message : outcome.error}`;
}
