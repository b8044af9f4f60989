import pg from 'pg';
import { type DatabaseOptions, settingsOf } from './database.ts';
import { isDatabaseAway, outageOf } from './outage.ts';
import { connect, maxAttempts, mayRepeat } from './transaction.ts';

/** A connection of a plain pool. */
export interface PlainClient {
  query(text: string, values?: readonly unknown[]): Promise<pg.QueryResult>;
  release(isBroken?: boolean): void;
}

/** A pool for a library that brings its own SQL. */
export interface PlainPool {
  connect(): Promise<PlainClient>;
  end(): Promise<void>;
}

/**
 * Opens a pool for a library that brings its own SQL, with the limits and the waits of `openDatabase`. A connection that is lost
 * in use is an error of its statement; what was read outside of a transaction is asked again. A plain pool of the driver would
 * end the process then.
 */
export function openPlainPool(options: DatabaseOptions): PlainPool {
  const pool = new pg.Pool({ ...settingsOf(options), max: options.connections ?? 10 });
  pool.on('error', options.onError ?? (() => {}));
  const source = { pool, outage: outageOf(pool, options.outageWaitMs ?? 0, options.onBack) };
  const lend = async () => {
    const client = await connect(source);
    let broken: Error | undefined;
    const onBroken = (error: Error) => {
      broken = error;
    };
    client.on('error', onBroken);
    let isBack = false;
    return {
      client,
      onBroken,
      giveBack() {
        if (isBack) return;
        isBack = true;
        client.off('error', onBroken);
        client.release(broken);
      },
    };
  };
  return {
    async connect() {
      let lent = await lend();
      let isInTransaction = false;
      return {
        async query(text, values = []) {
          isInTransaction ||= /^\s*(begin|start)\b/i.test(text);
          for (let attempt = 1; ; attempt += 1) {
            try {
              return await lent.client.query(text, [...values]);
            } catch (error) {
              if (isDatabaseAway(error)) lent.onBroken(error as Error);
              const isFinal = attempt >= maxAttempts || isInTransaction || !mayRepeat(text, error);
              if (isFinal) throw error;
              // Before the wait: whoever looks whether the database is back needs a connection, too.
              lent.giveBack();
              if (!(await source.outage.isOver())) throw error;
            }
            lent = await lend();
          }
        },
        release(isBroken = false) {
          if (isBroken) lent.onBroken(new Error('given up by its user'));
          lent.giveBack();
        },
      };
    },
    end: () => pool.end(),
  };
}
