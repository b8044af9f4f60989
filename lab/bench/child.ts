import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LoadPlan, LoadResult } from './load-plan.ts';

const nodeFlags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];
const startLimitMs = 30_000;
const stopLimitMs = 10_000;
/** Extra time for a load run after its planned end. Then the bench kills it. */
const loadPatienceMs = 60_000;
const tailLength = 4_000;

/** A server under load, in its own process. */
export interface Server {
  readonly name: string;
  readonly origin: string;
  readonly pid: number;
  stop(): Promise<void>;
}

interface ServerStart {
  readonly name: string;
  /** Relative to this folder. */
  readonly script: string;
  readonly port: number;
  /** The output goes to a file: reading a pipe would use the processor time that the bench measures. */
  readonly logFile: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Checks whether the server accepts requests. A limit sends a message instead. */
  readonly isReady?: (origin: string) => Promise<boolean>;
  readonly flags?: readonly string[];
}

function pathOf(script: string): string {
  return fileURLToPath(new URL(script, import.meta.url));
}

function readTail(path: string): string {
  return readFileSync(path, 'utf8').slice(-tailLength).trim();
}

/** Starts a server and waits until it accepts requests. The server ends by itself when the bench is killed. */
export async function startServer(start: ServerStart): Promise<Server> {
  const output = openSync(start.logFile, 'a', 0o600);
  const child = spawn(process.execPath, [...nodeFlags, ...(start.flags ?? []), pathOf(start.script)], {
    env: { ...process.env, ...start.environment },
    stdio: ['ignore', output, output, 'ipc'],
  });
  closeSync(output);
  const ended = once(child, 'exit');
  let isReady = false;
  child.once('message', () => {
    isReady = true;
  });
  const origin = `http://127.0.0.1:${start.port}`;
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
    await ended;
    clearTimeout(timer);
  };
  const deadline = performance.now() + startLimitMs;
  while (!isReady) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${start.name} ended at its start: ${readTail(start.logFile)}`);
    }
    if (performance.now() > deadline) {
      await stop();
      throw new Error(
        `${start.name} was not ready within ${startLimitMs / 1000} s: ${readTail(start.logFile)}`,
      );
    }
    await sleep(20);
    isReady ||= (await start.isReady?.(origin)) ?? false;
  }
  return { name: start.name, origin, pid: child.pid ?? 0, stop };
}

/** Runs the load generator in its own process. Rejects with the generator's message about the first wrong answer. */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const child = spawn(process.execPath, [...nodeFlags, pathOf('load.ts')], {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: plan.seconds * 1000 + loadPatienceMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  child.stdout.on('data', (part: Buffer) => {
    output += part.toString();
  });
  let complaint = '';
  child.stderr.on('data', (part: Buffer) => {
    complaint = (complaint + part.toString()).slice(-tailLength);
  });
  // A generator that ends early closes its input. Its message explains more than the broken pipe.
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(plan));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`load on ${plan.origin} failed: ${complaint.trim() || 'it was ended'}`);
  return JSON.parse(output) as LoadResult;
}
