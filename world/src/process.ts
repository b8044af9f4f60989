import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The identity of a process beyond its pid, which the system reuses: its command line and its start time. */
export interface ProcessRecord {
  readonly pid: number;
  /** In clock ticks since boot; a date and time to the second where the system has no `/proc`. */
  readonly startTicks: string;
  readonly commandLine: string;
}

/** How a child process ended. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');

const isEnded = (state: string | undefined): boolean =>
  state === undefined || state.startsWith('Z') || state.startsWith('X');

const describeByFiles = (pid: number): ProcessRecord | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets, which may contain spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    const startTicks = fields[19];
    if (isEnded(state) || startTicks === undefined) return undefined;
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
    return { pid, startTicks, commandLine };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
};

/** As {@link describeProcess}, by the command `ps`, which every Unix has. */
export const describeByCommand = (pid: number): ProcessRecord | undefined => {
  const columns = ['-o', 'lstart=', '-o', 'stat=', '-o', 'command=', '-p', String(pid)];
  const { stdout = '' } = spawnSync('ps', ['-ww', ...columns], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' },
  });
  const [, startTicks, state, commandLine] = /^\s*(.{24})\s+(\S+)\s+(.*)$/m.exec(stdout) ?? [];
  if (startTicks === undefined || commandLine === undefined || isEnded(state)) return undefined;
  return { pid, startTicks, commandLine: commandLine.trim() };
};

/** The record of a running process; undefined when there is none (a zombie counts as none). */
export const describeProcess = process.platform === 'linux' ? describeByFiles : describeByCommand;

/** Whether the process of this record still runs; false for a recycled pid. */
export const isRunning = (record: ProcessRecord): boolean => {
  const now = describeProcess(record.pid);
  // The command line may change (Postgres renames itself); the start time cannot.
  return now !== undefined && now.startTicks === record.startTicks;
};

/** Whether an older record still describes the same program, command line included. */
export const isSameProcess = (record: ProcessRecord): boolean => {
  const now = describeProcess(record.pid);
  return now?.startTicks === record.startTicks && now.commandLine === record.commandLine;
};

/** Sends a signal to exactly this process; false when it has ended. */
export const signalProcess = (record: ProcessRecord, signal: NodeJS.Signals): boolean => {
  if (!isRunning(record)) return false;
  try {
    process.kill(record.pid, signal);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
};

/** Waits until a condition holds; false when the limit passes first. */
export const waitUntil = async (
  condition: () => boolean | Promise<boolean>,
  limitMs: number,
  pauseMs = 20,
): Promise<boolean> => {
  const deadline = performance.now() + limitMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() >= deadline) return false;
    await sleep(pauseMs);
  }
};

/** Ends a process with the signals in turn, each with its own time-out, and returns when it has ended. */
export const endProcess = async (
  record: ProcessRecord,
  steps: readonly (readonly [signal: NodeJS.Signals, patienceMs: number])[],
): Promise<void> => {
  for (const [signal, patienceMs] of steps) {
    if (!signalProcess(record, signal)) return;
    if (await waitUntil(() => !isRunning(record), patienceMs)) return;
  }
  throw new Error(`Process ${record.pid} (${record.commandLine}) does not end.`);
};
