import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Every process of this run inherits the variable, so that what is left behind can be found. */
const markName = 'FLORIN_TEST_RUN';
const mark = `${markName}=${process.pid}.${Date.now()}`;
const children = new Set<ChildProcess>();
/** How long processes may take to end by themselves. */
const patienceMs = 10_000;
const pauseMs = 50;

/** How a command ended, and all that it wrote. */
export interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs a command from the root of the checkout; `onOutput` gets what it writes as it comes. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; onOutput?: (text: string) => void } = {},
): Promise<Ended> {
  const [name, value = ''] = mark.split('=');
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...options.env, [name ?? markName]: value },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, so that an interrupted run ends its descendants as well.
      detached: true,
    });
    children.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        output += text;
        options.onOutput?.(text);
      });
    }
    child.on('error', reject);
    child.on('close', (code) => {
      children.delete(child);
      resolve({ code: code ?? 1, output });
    });
  });
}

/** Ends what still runs, first by SIGTERM. */
export async function endCommands(): Promise<void> {
  for (const { pid } of children) if (pid !== undefined) signal(-pid, 'SIGTERM');
  await endLeftovers();
}

/** Waits until no process of this run is left, then kills the rest; gives the command lines of those. */
export async function endLeftovers(): Promise<string[]> {
  const end = performance.now() + patienceMs;
  while (markedProcesses().length > 0 && performance.now() < end) await sleep(pauseMs);
  return markedProcesses().map((pid) => {
    const commandLine = readProc(pid, 'cmdline').replaceAll('\0', ' ').trim();
    signal(pid, 'SIGKILL');
    return commandLine;
  });
}

/** Pids of this run's processes other than this one; none on a system without /proc. */
function markedProcesses(): number[] {
  return listProc().filter(
    (pid) => pid !== process.pid && readProc(pid, 'environ').split('\0').includes(mark) && !isZombie(pid),
  );
}

function listProc(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    // No /proc on this system.
    return [];
  }
}

function isZombie(pid: number): boolean {
  const stat = readProc(pid, 'stat');
  return stat === '' || stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

function readProc(pid: number, file: 'cmdline' | 'environ' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended, or belongs to another user.
    return '';
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
