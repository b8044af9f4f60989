import { type FileHandle, mkdir, open as openFile, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from '#outside/random.ts';
import { type ImageStore, ImageStoreFailure } from './image-store.ts';

/** Opens a file; tests pass a disk that is full. */
export type OpenFile = (path: string, flags: string, mode?: number) => Promise<FileHandle>;

export interface FolderStoreOptions {
  /** Created when missing. Several processes may share it. */
  readonly folder: string;
  readonly random: Random;
  readonly open?: OpenFile;
}

/** Stores images in a folder of this machine, or of a network drive that all processes share. */
export function folderStore({ folder, random, open = openFile }: FolderStoreOptions): ImageStore {
  const pathOf = (file: string) => join(folder, file.slice(0, 2), file);
  return {
    put: (file, bytes) => failing('writing an image', () => write(file, bytes)),
    read: (file) =>
      failing('reading an image', () => readFile(pathOf(file)).catch((error) => unlessMissing(error))),
    remove: (file) => failing('removing an image', () => rm(pathOf(file), { force: true })),
    close: async () => {},
  };

  /** Writes a temporary file, syncs it and renames it, so that the name never refers to a partial file. */
  async function write(file: string, bytes: Uint8Array): Promise<void> {
    const path = pathOf(file);
    const place = join(folder, file.slice(0, 2));
    await mkdir(place, { recursive: true, mode: 0o750 });
    const temporary = `${path}.${Buffer.from(random.bytes(8)).toString('hex')}.tmp`;
    try {
      await writeWhole(await open(temporary, 'wx', 0o640), bytes);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    for (const changed of [place, folder]) await syncFolder(await open(changed, 'r'));
  }
}

async function writeWhole(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A new name is durable only after its folder is synced, too. */
async function syncFolder(handle: FileHandle): Promise<void> {
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function failing<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new ImageStoreFailure(`${what} failed`, { cause });
  }
}

function unlessMissing(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return undefined;
  throw error;
}
