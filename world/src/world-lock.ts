import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
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
const bindName = (folder: string): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const name = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 32);
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen({ path: `\0florin-${name}` }, () => resolve(server.unref()));
  });

/**
 * Takes a world's folder for this process. Undefined when another process holds it. A dead holder, even a SIGKILLed one
 * with a recycled pid, holds nothing.
 */
export const takeLock = async (folder: string): Promise<WorldLock | undefined> => {
  const server = await bindName(folder);
  if (server === undefined) return undefined;
  const path = join(folder, FILE);
  return {
    record(origin) {
      writeAtomically(path, JSON.stringify({ ...describeProcess(process.pid), origin }));
    },
    async release() {
      rmSync(path, { force: true });
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
