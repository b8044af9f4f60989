import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Children } from './children.ts';
import { WorldHome } from './home.ts';
import { describeProcess, isRunning, type ProcessRecord } from './process.ts';
import { releaseLock, takeLock } from './world-lock.ts';

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

test('a lock whose pid was given to a stranger is free', () => {
  const stranger = startStranger();
  const path = join(folder, 'recycled');
  const { pid, commandLine } = stranger;
  writeFileSync(path, JSON.stringify({ pid, commandLine, startTicks: '1', origin: 'http://127.0.0.1:1' }));
  assert.deepEqual(takeLock(path, 'http://127.0.0.1:2'), { holder: undefined });
  stranger.end();
});

test('a lock whose holder lives is refused with its address', () => {
  const stranger = startStranger();
  const path = join(folder, 'held');
  const { pid, commandLine, startTicks } = stranger;
  const holder = { pid, commandLine, startTicks, origin: 'http://127.0.0.1:1' };
  writeFileSync(path, JSON.stringify(holder));
  assert.deepEqual(takeLock(path, 'http://127.0.0.1:2'), { holder });
  stranger.end();
});

test('a lock that was given back is free', () => {
  const path = join(folder, 'returned');
  assert.deepEqual(takeLock(path, 'http://127.0.0.1:1'), { holder: undefined });
  releaseLock(path);
  assert.deepEqual(takeLock(path, 'http://127.0.0.1:1'), { holder: undefined });
});

test('what an earlier start left is ended, and a stranger with its pid is not', async () => {
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
