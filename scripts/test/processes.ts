import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { Socket } from 'node:net';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { endLeftovers, signal, stopGraceMs } from './run-folder.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export const node = process.execPath;
export const nodeFlags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];

/** Kept between runs and ignored by git: logs, compiled modules, what the deep run has passed. */
export const keptFolder = join(root, '.test');
const compiledFolder = join(keptFolder, 'compiled');
/** What one process of Node has compiled, the next one loads. */
const compileCache = { NODE_COMPILE_CACHE: compiledFolder };
/**
 * For processes of test files. In the first run of a checkout they write nothing of what they have compiled, which would take
 * a dozen seconds at the end of the run.
 */
export const compileCacheOfTests: Readonly<Record<string, string>> = existsSync(compiledFolder)
  ? {}
  : { NODE_DISABLE_COMPILE_CACHE: '1' };

const children = new Set<ChildProcess>();

/** How a command ended, and all that it wrote. */
export interface Ended {
  readonly code: number;
  readonly output: string;
  /** Of the command and all descendants that ended before it. */
  readonly processorSeconds: number;
}

/** Runs its arguments as a command, then writes to file 3 what the shell and its descendants have used. */
const measured = ['-c', '"$@" 3>&-; code=$?; times >&3; exit "$code"', 'sh'];

/** The sum of what `times` has written: four figures such as `1m0.25s`. */
function sumOfTimes(text: string): number {
  return [...text.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  );
}

/** A file system in memory. On a disk, making a database takes four times the processor time. */
const memoryFolder = '/dev/shm';
const wantedMemoryBytes = 8 * 1024 ** 3;

function findTemporaryFolder(): string {
  if (process.env['TMPDIR'] !== undefined || !existsSync(memoryFolder)) return tmpdir();
  const { bavail, bsize } = statfsSync(memoryFolder);
  return Math.min(bavail * bsize, freemem()) < wantedMemoryBytes ? tmpdir() : memoryFolder;
}

/** Makes the folder of this run's temporary files, and starts the process that cleans up when this one has ended. */
export function openRunFolder(): string {
  const folder = mkdtempSync(join(findTemporaryFolder(), 'florin-run-'));
  // Started by root, PostgreSQL runs as another user, who must be able to get here.
  chmodSync(folder, 0o755);
  const reaper = spawn(process.execPath, [fileURLToPath(new URL('reaper.ts', import.meta.url))], {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...process.env, FLORIN_TEST_FOLDER: folder },
    // Its own session: what ends this run must not reach it.
    detached: true,
  });
  reaper.unref();
  if (reaper.stdin instanceof Socket) reaper.stdin.unref();
  process.env['TMPDIR'] = folder;
  return folder;
}

/** Starts a command from the root of the checkout. An interrupted run ends it. */
export function startCommand(
  command: string,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; stdio: StdioOptions },
): ChildProcess {
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, ...compileCache, ...options.env },
    stdio: options.stdio,
    // A process group of its own, so that an interrupted run ends its descendants as well.
    detached: true,
  });
  children.add(child);
  child.once('close', () => children.delete(child));
  return child;
}

/** Runs a command from the root of the checkout, and waits for its end. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>> } = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const stdio: StdioOptions = ['ignore', 'pipe', 'pipe', 'pipe'];
    const child = startCommand('sh', [...measured, command, ...args], { ...options, stdio });
    let output = '';
    let times = '';
    const [, stdout, stderr, file3] = child.stdio;
    if (!(stdout instanceof Readable && stderr instanceof Readable && file3 instanceof Readable))
      throw new Error('the output of a command is not read');
    file3.setEncoding('utf8').on('data', (text: string) => {
      times += text;
    });
    for (const stream of [stdout, stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        output += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code: code ?? 1, output, processorSeconds: sumOfTimes(times) });
    });
  });
}

/** Ends what still runs, first by SIGTERM. */
export async function endCommands(folder: string): Promise<void> {
  for (const { pid } of children) if (pid !== undefined) signal(-pid, 'SIGTERM');
  await endLeftovers(folder, stopGraceMs);
}
