import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describeProcess, endProcess, type ProcessExit } from './process.ts';
import { readStartLimit } from './start-limit.ts';

/** The running service process. */
export interface ServiceChild {
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  /** Waits until `GET /health/ready` answers 200; rejects when the process ends or the time is up. */
  waitUntilReady(isCancelled: () => boolean): Promise<void>;
  /** Sets by how many seconds the service's clock is ahead of the machine's; returns once it is so, or the process has ended. */
  setClockOffset(seconds: number): Promise<void>;
  /** Ends the process at once with SIGKILL. */
  kill(): void;
  stop(): Promise<void>;
}

/** The start options of the service. */
export interface ServiceChildOptions {
  readonly configPath: string;
  readonly origin: string;
  readonly logFile: string;
  /** The service's program; `apps/server/src/main.ts` of this checkout when absent. */
  readonly script?: string;
}

const SERVER_SCRIPT = fileURLToPath(new URL('../../apps/server/src/main.ts', import.meta.url));
const POLL_MS = 20;
const STOP_STEPS = [
  ['SIGTERM', 10_000],
  ['SIGKILL', 5_000],
] as const;
const TAIL_LINES = 15;

/** The last lines of a file, of those after this many bytes. */
const readTail = (path: string, begin: number): string =>
  readFileSync(path).subarray(begin).toString().trim().split('\n').slice(-TAIL_LINES).join('\n');

/** Whether `GET /health/ready` at this address answers 200. */
export const isReady = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    // Not listening yet; the time limit decides when that becomes an error.
    return false;
  }
};

/** Settings that the world, or another program of this machine, has in its environment, and the service would take for its own. */
const isForeign = (name: string): boolean => /^(?:FLORIN_(?!LOG_|RATE_LIMITS$)|DATABASE_URL)/.test(name);

const composeEnvironment = (configPath: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !isForeign(name))),
  FLORIN_CONFIG: configPath,
});

/** Starts the service as its own process. Its channel to us closes whenever we end. */
export const startServiceChild = ({
  configPath,
  origin,
  logFile,
  script = SERVER_SCRIPT,
}: ServiceChildOptions): ServiceChild => {
  if (!existsSync(script)) throw new Error(`The service's program is missing: ${script}`);
  const output = openSync(logFile, 'a', 0o600);
  // The lines of earlier starts are no reason for this one's end.
  const logBegin = fstatSync(output).size;
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, script], {
    env: composeEnvironment(configPath),
    stdio: ['ignore', output, output, 'ipc'],
    // Its own session: Ctrl-C reaches only us, and we stop processes in order.
    detached: true,
  });
  closeSync(output);
  let exit: ProcessExit | undefined;
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      exit = { code, signal };
      resolve(exit);
    });
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('The service could not be started.');
  return {
    pid,
    exited,
    async waitUntilReady(isCancelled) {
      const limit = readStartLimit();
      const deadline = performance.now() + limit.ms;
      while (!(await isReady(`${origin}/health/ready`))) {
        if (isCancelled()) throw new Error('The start was stopped.');
        if (exit !== undefined)
          throw new Error(`The service ended at its start:\n${readTail(logFile, logBegin)}`);
        if (performance.now() > deadline) {
          throw new Error(`The service ${limit.sentence}:\n${readTail(logFile, logBegin)}`);
        }
        await sleep(POLL_MS);
      }
    },
    async setClockOffset(clockOffsetSeconds) {
      if (!child.connected) return;
      const answered = new Promise((resolve) => child.once('message', resolve));
      child.send({ clockOffsetSeconds });
      await Promise.race([answered, exited]);
    },
    kill() {
      child.kill('SIGKILL');
    },
    async stop() {
      const record = describeProcess(pid);
      if (exit === undefined && record !== undefined) await endProcess(record, STOP_STEPS);
      await exited;
    },
  };
};
