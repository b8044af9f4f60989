import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type TestDatabase, testDatabase } from '@florin/server/testing-database';
import type { HistoryResult } from './history.ts';
import type { Size } from './scenario.ts';

export interface WorkerPoolOptions {
  readonly workers: number;
  readonly bugName?: string;
  /** Whether workers print every event. */
  readonly printsTrace?: boolean;
}

/** A history to run. */
export interface Assignment {
  readonly seed: number;
  /** The amount of activity. Chosen by the seed when absent. */
  readonly size?: Size;
}

/** A finished history, and its worker's processor time without PostgreSQL's. */
export type TimedHistory = HistoryResult & { readonly cpuMs: number };

interface PoolWorker {
  readonly child: ChildProcess;
  readonly database: TestDatabase;
}

/** Workers in separate processes, each with its own database. */
export class WorkerPool {
  readonly #workers: readonly PoolWorker[];

  private constructor(workers: readonly PoolWorker[]) {
    this.#workers = workers;
  }

  static async start({
    workers: count,
    bugName = '',
    printsTrace = false,
  }: WorkerPoolOptions): Promise<WorkerPool> {
    const workers = await Promise.all(
      Array.from({ length: count }, async () => {
        const database = await testDatabase({ connections: 1 });
        const args = [database.url, bugName, printsTrace ? 'trace' : ''];
        const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), args, {
          execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'],
        });
        await nextMessage(child);
        return { child, database };
      }),
    );
    return new WorkerPool(workers);
  }

  /** Runs these histories. `onResult` may end the run early by returning false. */
  async run(
    assignments: Iterable<Assignment>,
    onResult: (result: TimedHistory) => Promise<boolean>,
  ): Promise<void> {
    const waiting = assignments[Symbol.iterator]();
    let isOver = false;
    await Promise.all(
      this.#workers.map(async ({ child }) => {
        while (!isOver) {
          const next = waiting.next();
          if (next.done === true) return;
          const answer = nextMessage(child);
          child.send(next.value);
          if (!(await onResult((await answer) as TimedHistory))) isOver = true;
        }
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#workers.map(async ({ child, database }) => {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        const isRunning = child.exitCode === null && child.signalCode === null;
        if (isRunning && child.connected) {
          child.send('over');
          child.disconnect();
        }
        if (isRunning) await ended;
        await database.close();
      }),
    );
  }
}

/** The worker's next message. Rejects when the worker ends instead; it has then printed the reason. */
function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a worker ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message);
    });
  });
}
