import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describeProcess, isSameProcess, type ProcessRecord } from './process.ts';

/** Who runs a world, and where. */
export interface LockHolder extends ProcessRecord {
  readonly origin: string;
}

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const readHolder = (path: string): LockHolder | undefined => {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LockHolder;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
};

/** Puts a stale lock aside by a name of its own; of two that try, one gets it and the other tries again. */
const putAside = (path: string): void => {
  const aside = `${path}.${randomBytes(4).toString('hex')}`;
  try {
    renameSync(path, aside);
    rmSync(aside);
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error;
  }
};

/**
 * Takes the lock of a world for this process, or tells who holds it. A holder that is gone, also by SIGKILL
 * and with its pid given to a stranger, holds nothing.
 */
export const takeLock = (path: string, origin: string): { holder: LockHolder | undefined } => {
  const self = describeProcess(process.pid);
  if (self === undefined) throw new Error('This process has no record of itself.');
  for (;;) {
    const draft = `${path}.${randomBytes(4).toString('hex')}`;
    writeFileSync(draft, JSON.stringify({ ...self, origin }), { mode: 0o600 });
    try {
      // A link appears with its content or not at all, and never over another.
      linkSync(draft, path);
      return { holder: undefined };
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error;
    } finally {
      rmSync(draft);
    }
    const holder = readHolder(path);
    if (holder === undefined) continue;
    if (holder.pid !== process.pid && isSameProcess(holder)) return { holder };
    putAside(path);
  }
};

/** Gives the lock back. */
export const releaseLock = (path: string): void => {
  rmSync(path, { force: true });
};
