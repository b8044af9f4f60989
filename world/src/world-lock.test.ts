import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Children } from './children.ts';
import { WorldHome } from './home.ts';
import { describeByCommand, describeProcess, isRunning, type ProcessRecord, waitUntil } from './process.ts';
import { findHolder, takeLock } from './world-lock.ts';

let folder = '';
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'florin lock '));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const startStranger = (): ProcessRecord & { end(): void } => {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  const record = describeProcess(child.pid ?? 0);
  assert.ok(record !== undefined);
  return { ...record, end: () => child.kill('SIGKILL') };
};

const makeFolder = (name: string): string => {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
};

test('the lock of a dead holder does not block a start, even if an unrelated process has its pid', async () => {
  const stranger = startStranger();
  const path = makeFolder('recycled');
  const { pid, commandLine } = stranger;
  writeFileSync(
    join(path, 'lock'),
    JSON.stringify({ pid, commandLine, startTicks: '1', origin: 'http://127.0.0.1:1' }),
  );
  assert.equal(findHolder(path), undefined);
  const lock = await takeLock(path);
  assert.ok(lock !== undefined);
  lock.record('http://127.0.0.1:2');
  assert.equal(findHolder(path)?.origin, 'http://127.0.0.1:2');
  await lock.release();
  stranger.end();
});

test('exactly one of many concurrent starts gets a folder, which is free again afterwards', async () => {
  const path = makeFolder('wanted');
  const locks = await Promise.all(Array.from({ length: 8 }, () => takeLock(path)));
  const held = locks.filter((lock) => lock !== undefined);
  assert.equal(held.length, 1);
  await held[0]?.release();
  const again = await takeLock(path);
  assert.ok(again !== undefined);
  await again.release();
});

test('processes of an earlier start are ended, and an unrelated process with a recycled pid is not', async () => {
  const home = new WorldHome(join(folder, 'home'));
  const orphan = startStranger();
  const stranger = startStranger();
  home.write('processes.json', {
    orphan: { pid: orphan.pid, commandLine: orphan.commandLine, startTicks: orphan.startTicks },
    recycled: { pid: stranger.pid, commandLine: stranger.commandLine, startTicks: '1' },
    renamed: { pid: stranger.pid, commandLine: 'anvil', startTicks: stranger.startTicks },
  });
  await new Children(home).reap(() => undefined);
  assert.equal(isRunning(orphan), false);
  assert.equal(isRunning(stranger), true);
  stranger.end();
});

test('where there is no /proc, ps identifies a process, and tells that it has ended', async () => {
  const stranger = startStranger();
  const record = describeByCommand(stranger.pid);
  assert.equal(record?.commandLine, stranger.commandLine);
  assert.ok(!Number.isNaN(Date.parse(record?.startTicks ?? '')));
  assert.deepEqual(describeByCommand(stranger.pid), record);
  stranger.end();
  assert.equal(await waitUntil(() => describeByCommand(stranger.pid) === undefined, 10_000), true);
});
