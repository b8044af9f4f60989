import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { type FileHandle, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemRandom } from '#outside/random.ts';
import { folderStore, type OpenFile } from './folder-store.ts';
import { ImageStoreFailure } from './image-store.ts';

const folders: string[] = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'florin-images-'));
  folders.push(folder);
  return folder;
}

const file = `${'a'.repeat(22)}-96.webp`;
const bytes = new Uint8Array([1, 2, 3]);

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

test('every store on the folder reads a stored object until it is removed', async () => {
  const folder = join(await newFolder(), 'not', 'there', 'yet');
  const store = folderStore({ folder, random: systemRandom });
  const other = folderStore({ folder, random: systemRandom });
  assert.equal(await store.read(file), undefined);
  await store.put(file, bytes);
  await store.put(file, bytes);
  assert.deepEqual(new Uint8Array((await other.read(file)) ?? []), bytes);
  assert.deepEqual(await filesIn(folder), [file]);
  await other.remove(file);
  await other.remove(file);
  assert.equal(await store.read(file), undefined);
});

/** A disk with space for so many bytes. A write beyond it stores a part and then fails, as a real disk does. */
function diskOf(room: { left: number }): OpenFile {
  return async (path, flags, mode) => {
    const handle = await open(path, flags, mode);
    if (!flags.includes('w')) return handle;
    const full: FileHandle['writeFile'] = async (data) => {
      const whole = Buffer.from(data as Uint8Array);
      const part = whole.subarray(0, room.left);
      await handle.write(part);
      room.left -= part.length;
      if (part.length < whole.length) {
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      }
    };
    return Object.assign(handle, { writeFile: full });
  };
}

test('a put on a full disk fails without leaving a file, and stored objects are still served', async () => {
  const folder = await newFolder();
  const room = { left: 4 };
  const store = folderStore({ folder, random: systemRandom, open: diskOf(room) });
  await store.put(file, bytes);
  const second = `${'b'.repeat(22)}-96.webp`;
  await assert.rejects(store.put(second, bytes), ImageStoreFailure);
  assert.deepEqual(await filesIn(folder), [file]);
  assert.deepEqual(new Uint8Array((await store.read(file)) ?? []), bytes);
  assert.equal(await store.read(second), undefined);
  room.left = 100;
  await store.put(second, bytes);
  assert.deepEqual((await filesIn(folder)).sort(), [file, second]);
});

/** Mounts a separate small file system, where the system allows it. */
function mountSmall(folder: string): boolean {
  const options = ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder];
  return spawnSync('/bin/mount', options, { stdio: 'ignore' }).status === 0;
}

test('a real full disk does the same, and recovers by itself', async (t) => {
  const folder = await newFolder();
  if (!mountSmall(folder)) {
    t.skip('this system lets us mount nothing');
    return;
  }
  try {
    const store = folderStore({ folder, random: systemRandom });
    const names = ['a', 'b', 'c'].map((letter) => `${letter.repeat(22)}-96.webp`);
    const large = new Uint8Array(30_000).fill(1);
    await store.put(names[0] ?? '', large);
    await assert.rejects(store.put(names[1] ?? '', new Uint8Array(60_000)), ImageStoreFailure);
    assert.deepEqual(await filesIn(folder), [names[0]]);
    assert.deepEqual(new Uint8Array((await store.read(names[0] ?? '')) ?? []), large);
    await store.remove(names[0] ?? '');
    await store.put(names[2] ?? '', large);
    assert.deepEqual(await filesIn(folder), [names[2]]);
  } finally {
    spawnSync('/bin/umount', [folder]);
  }
});

test('an unusable folder is a store failure in every operation', async () => {
  const folder = join(await newFolder(), 'taken');
  await writeFile(folder, 'a file where the folder should be');
  const store = folderStore({ folder, random: systemRandom });
  for (const work of [store.put(file, bytes), store.read(file)]) {
    await assert.rejects(work, ImageStoreFailure);
  }
  assert.equal(await readFile(folder, 'utf8'), 'a file where the folder should be');
});
