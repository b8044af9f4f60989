import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A run keeps its temporary files in one folder. Its processes have that folder in their environment, or in their command
 * line, so that a process that was left behind is found without its parent.
 */

/** Names, in the environment of what a test starts, the test's file. */
export const fileVariable = 'FLORIN_TEST_FILE';

/** How long processes may take to end by themselves, and after a signal. */
const patienceMs = 10_000;
export const stopGraceMs = 2_000;
const pauseMs = 50;

/** Waits until no process of the folder's run is left, then kills the rest; gives the command lines of those, with their test files. */
export async function endLeftovers(folder: string, forMs = patienceMs): Promise<string[]> {
  const end = performance.now() + forMs;
  while (processesOf(folder).length > 0 && performance.now() < end) await sleep(pauseMs);
  return processesOf(folder).map((pid) => {
    const commandLine = readProc(pid, 'cmdline').replaceAll('\0', ' ').trim();
    const prefix = `${fileVariable}=`;
    const file = readProc(pid, 'environ')
      .split('\0')
      .find((each) => each.startsWith(prefix));
    signal(pid, 'SIGKILL');
    return file === undefined ? commandLine : `${commandLine} (of ${file.slice(prefix.length)})`;
  });
}

/** Asks every process of the folder's run to end, and kills those that do not. */
export async function endAll(folder: string): Promise<void> {
  for (const pid of processesOf(folder)) signal(pid, 'SIGTERM');
  // A process that ends may have just started another one.
  while ((await endLeftovers(folder, stopGraceMs)).length > 0) await sleep(pauseMs);
}

/** Pids of the run's processes other than this one; none on a system without /proc. */
export function processesOf(folder: string): number[] {
  const isOfRun = (pid: number) =>
    readProc(pid, 'environ').split('\0').includes(`TMPDIR=${folder}`) ||
    readProc(pid, 'cmdline').includes(folder);
  return listProc().filter((pid) => pid !== process.pid && isOfRun(pid) && !isZombie(pid));
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

/** Signals a process, or with a negative number a process group. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
