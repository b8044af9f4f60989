import { createHash } from 'node:crypto';
import { closeSync, constants, openSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { writeAtomically } from './chain-journal.ts';
import { describeProcess, isSameProcess, type ProcessRecord } from './process.ts';

/** The process that runs a world, and its address. */
export interface LockHolder extends ProcessRecord {
  readonly origin: string;
}

/** The lock of a world; it ends with the process, even after a SIGKILL. */
export interface WorldLock {
  /** Records this process and the world's address for those who find the lock taken. */
  record(origin: string): void;
  release(): Promise<void>;
}

const FILE = 'lock';

type Release = () => Promise<void>;

/** The holder of the folder, if it has recorded itself. */
export const findHolder = (folder: string): LockHolder | undefined => {
  try {
    const holder = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as LockHolder;
    return isSameProcess(holder) ? holder : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

/**
 * Binds a name that only the kernel keeps. A lock file alone does not work: two starts that find the file of a killed
 * one can each remove the other's new file.
 */
const bindName = (folder: string): Promise<Release | undefined> =>
  new Promise((resolve, reject) => {
    const name = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32);
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen({ path: `\0florin-${name}` }, () => {
      server.unref();
      resolve(() => new Promise((done) => server.close(() => done())));
    });
  });

/** `O_EXLOCK` of macOS and the BSDs (fcntl.h). */
const EXCLUSIVE_LOCK = 0x20;

/** Locks a file until its descriptor closes: these systems have no names without files, and Linux has no such flag. */
const lockFile = async (folder: string): Promise<Release | undefined> => {
  const { O_RDWR, O_CREAT, O_NONBLOCK } = constants;
  try {
    const file = openSync(join(folder, 'lock.held'), O_RDWR | O_CREAT | O_NONBLOCK | EXCLUSIVE_LOCK, 0o600);
    return async () => closeSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return undefined;
    throw error;
  }
};

/**
 * Takes a world's folder for this process. Undefined when another process holds it. A dead holder, even a SIGKILLed one
 * with a recycled pid, holds nothing.
 */
export const takeLock = async (folder: string): Promise<WorldLock | undefined> => {
  const release = await (process.platform === 'linux' ? bindName : lockFile)(folder);
  if (release === undefined) return undefined;
  const path = join(folder, FILE);
  return {
    record(origin) {
      writeAtomically(path, JSON.stringify({ ...describeProcess(process.pid), origin }));
    },
    async release() {
      rmSync(path, { force: true });
      await release();
    },
  };
};
