import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { writeAtomically } from './chain-journal.ts';
import { describeProcess, isSameProcess, type ProcessRecord } from './process.ts';

/** Who runs a world, and where. */
export interface LockHolder extends ProcessRecord {
  readonly origin: string;
}

/** The hold on a world; ends with the process, however it ends. */
export interface WorldLock {
  release(): Promise<void>;
}

const FILE = 'lock';

/** Who has the folder, as far as it has said so yet. */
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
 * Binds a name that only the kernel keeps. A lock file alone cannot be had: of two starts that find the file
 * of a killed one, each can remove what the other has just made.
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
 * Takes a world's folder for this process, and notes there who it is. Undefined when another process has it;
 * one that is gone, also by SIGKILL and with its pid given to a stranger, has nothing.
 */
export const takeLock = async (folder: string, origin: string): Promise<WorldLock | undefined> => {
  const server = await bindName(folder);
  if (server === undefined) return undefined;
  const path = join(folder, FILE);
  writeAtomically(path, JSON.stringify({ ...describeProcess(process.pid), origin }));
  return {
    async release() {
      rmSync(path, { force: true });
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
