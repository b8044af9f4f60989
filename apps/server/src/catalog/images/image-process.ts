import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Clock } from '#outside/clock.ts';
import { DecodeFailure } from './image-decoder.ts';

export interface ImageProcessOptions {
  readonly clock: Clock;
  /** Processes that run at once; 2 by default. */
  readonly processes?: number;
  /** Address space of one process. */
  readonly addressSpaceKiB?: number;
  /** Receives the id of every started process. */
  readonly onStart?: (pid: number) => void;
}

/**
 * Address space of a decoder. The runtime reserves half of it without using it. The largest image (25 megapixels, 16 bits,
 * interlaced, with alpha) takes 810 MB of address space and 320 MB of memory.
 */
const defaultAddressSpaceKiB = 1024 * 1024;
const cpuSeconds = 10;
const timeLimitMs = 20_000;
/** How long an image waits for a free decoder. */
const waitLimitMs = 10_000;
const defaultProcesses = 2;
/** The most bytes of all sizes of one image together. */
const maxAnswerBytes = 16 * 1024 * 1024;

/** No JIT: no memory that is both writable and executable, and no large reservation that would blur the limit. */
const runtimeFlags = [
  '--jitless',
  '--max-old-space-size=64',
  '--v8-pool-size=1',
  '--disable-warning=ExperimentalWarning',
  '--input-type=module',
];

/**
 * Limits that the process cannot lift again: memory, processor time, no core dump, no writing to files. A system
 * without one of them runs without it.
 */
function limitsOf(addressSpaceKiB: number): string {
  return [`-v ${addressSpaceKiB}`, `-t ${cpuSeconds}`, '-s 1024', '-c 0', '-f 0']
    .map((limit) => `ulimit ${limit} 2>/dev/null`)
    .join('; ');
}

/** Runs one program of this folder for each input, and answers what it writes. */
export interface ImageProcesses {
  /** Throws `DecodeFailure`. */
  run(bytes: Uint8Array): Promise<Buffer>;
  /** Ends running processes. */
  close(): Promise<void>;
}

/**
 * Runs a program in a separate process for every input. The process has no secrets, has hard limits of memory and time,
 * and ends with its input. It costs 80 ms of processor time.
 */
export function imageProcesses(source: URL, options: ImageProcessOptions): ImageProcesses {
  const typedProgram = readFileSync(source, 'utf8');
  let program: string | undefined;
  const running = new Set<ChildProcess>();
  const turns = turnstile(options.processes ?? defaultProcesses, options.clock);
  let isClosed = false;
  return {
    async run(bytes) {
      const leave = await turns.enter(waitLimitMs);
      if (leave === undefined || isClosed) {
        leave?.();
        throw new DecodeFailure('could not be decoded now');
      }
      // Removing its types takes a third of a second, which the first input pays and not every start.
      program ??= stripTypeScriptTypes(typedProgram);
      const child = startProcess(program, options.addressSpaceKiB ?? defaultAddressSpaceKiB);
      running.add(child);
      if (child.pid !== undefined) options.onStart?.(child.pid);
      try {
        return await exchange(child, bytes, options.clock);
      } finally {
        child.kill('SIGKILL');
        running.delete(child);
        leave();
      }
    },
    async close() {
      isClosed = true;
      for (const child of running) child.kill('SIGKILL');
    },
  };
}

function startProcess(program: string, addressSpaceKiB: number): ChildProcess {
  return spawn(
    '/bin/sh',
    ['-c', `${limitsOf(addressSpaceKiB)}; exec "$0" "$@"`, process.execPath, ...runtimeFlags, '-e', program],
    {
      // The folder from which the program's imports are resolved.
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: { UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '1', VIPS_CONCURRENCY: '1' },
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  );
}

/** Writes the image to the process, and reads its answer. */
async function exchange(child: ChildProcess, bytes: Uint8Array, clock: Clock): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let length = 0;
  child.stdout?.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxAnswerBytes) reject(new DecodeFailure('too costly to decode'));
  });
  // A process that ends early breaks the pipe. Its exit status is the result.
  child.stdin?.on('error', () => child.stdin?.destroy());
  child.once('error', (cause) => reject(new DecodeFailure('could not be decoded now', { cause })));
  child.once('close', (code) => {
    if (code === 0) resolve(Buffer.concat(chunks));
    else reject(new DecodeFailure('too costly to decode'));
  });
  child.stdin?.end(bytes);
  const over = new AbortController();
  void clock.sleep(timeLimitMs, over.signal).then(() => {
    if (!over.signal.aborted) reject(new DecodeFailure('too costly to decode'));
  });
  try {
    return await promise;
  } finally {
    over.abort();
  }
}

/** Limits concurrent work. Others wait in order of arrival; undefined after waiting too long. */
function turnstile(places: number, clock: Clock) {
  let free = places;
  const waiting: (() => void)[] = [];
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    async enter(waitMs: number): Promise<(() => void) | undefined> {
      if (free > 0) {
        free -= 1;
        return leave;
      }
      const { promise, resolve } = Promise.withResolvers<(() => void) | undefined>();
      const over = new AbortController();
      const enter = () => {
        over.abort();
        resolve(leave);
      };
      waiting.push(enter);
      void clock.sleep(waitMs, over.signal).then(() => {
        const index = waiting.indexOf(enter);
        if (index < 0) return;
        waiting.splice(index, 1);
        resolve(undefined);
      });
      return promise;
    },
  };
}
