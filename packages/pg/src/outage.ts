import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

// Connection exceptions (08), a server that stops, has crashed or is starting (57P01 to 57P03), and one that cannot be
// written to, because another has taken its place (25006).
const awayStates = /^(08...|57P0[123]|25006)$/;
const networkCodes: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENOTFOUND',
]);
const networkCalls: ReadonlySet<string> = new Set(['connect', 'read', 'write', 'getaddrinfo']);
// Messages of the driver that have no code.
const awayMessages =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|Client is closed)/;

/** Whether an error says that the database cannot be reached or written to. Whether a commit succeeded, it does not say. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isDatabaseAway);
  if (!(error instanceof Error)) return false;
  if (awayMessages.test(error.message)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (awayStates.test(code)) return true;
  // A missing file has the same ENOENT as a missing socket, so only network calls count.
  return networkCodes.has(code) && 'syscall' in error && networkCalls.has(String(error.syscall));
}

/** A time without the database, as the callers of one pool see it. */
export interface Outage {
  /**
   * Waits after a failure that `isDatabaseAway` knows. True: the database is back, so try again. False: the outage has
   * lasted too long, or too many callers wait, and the failure is the answer.
   */
  isOver(): Promise<boolean>;
}

/** Between two looks at a database that is away. */
const lookMs = 200;
/** Callers that wait at once; further ones fail at once. */
const maxWaiting = 1_000;

/**
 * Watches the outages of a pool. Callers wait during the first `waitMs` of an outage, so that a restart or a failover
 * costs them time and no error. After that they fail at once.
 * @param waitMs 0: no caller waits, and nothing looks.
 * @param onBack Called at the end of each outage with its length in milliseconds.
 */
export function outageOf(
  pool: Pick<pg.Pool, 'connect'>,
  waitMs: number,
  onBack: (ms: number) => void = () => {},
): Outage {
  let since = 0;
  let waiting = 0;
  // One look serves all callers: theirs together would slow a server down that is starting.
  let looking: Promise<void> | undefined;
  const look = async () => {
    do await sleep(lookMs, undefined, { ref: false });
    while (!(await isThere(pool)));
    looking = undefined;
    onBack(performance.now() - since);
  };
  return {
    async isOver() {
      if (waitMs <= 0) return false;
      if (looking === undefined) since = performance.now();
      looking ??= look();
      const leftMs = since + waitMs - performance.now();
      if (leftMs <= 0 || waiting >= maxWaiting) return false;
      waiting += 1;
      const timer = new AbortController();
      try {
        const late = sleep(leftMs, false, { signal: timer.signal }).catch(() => false);
        return await Promise.race([looking.then(() => true), late]);
      } finally {
        timer.abort();
        waiting -= 1;
      }
    },
  };
}

/** Whether the database takes writes. True also for errors that waiting does not mend, which callers then get themselves. */
async function isThere(pool: Pick<pg.Pool, 'connect'>): Promise<boolean> {
  try {
    const client = await pool.connect();
    let broken: Error | undefined;
    const onBroken = (error: Error) => {
      broken = error;
    };
    client.on('error', onBroken);
    try {
      const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
      if (rows[0]?.transaction_read_only === 'on') broken = new Error('the server cannot be written to');
      return broken === undefined;
    } catch (error) {
      onBroken(error as Error);
      throw error;
    } finally {
      client.off('error', onBroken);
      client.release(broken);
    }
  } catch (error) {
    return !isDatabaseAway(error);
  }
}
