import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { processesOf } from './run-folder.ts';
import { startTestProcess } from './test-process.ts';

const run = `
  const { openRunFolder, runCommand } = await import('${new URL('processes.ts', import.meta.url)}');
  console.log(openRunFolder());
  await runCommand(process.execPath, ['-e', 'setInterval(() => undefined, 1_000)']);
`;

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(20);
}

test('a killed test run leaves no process and no temporary file', async () => {
  const killed = spawn(process.execPath, ['--input-type=module', '--eval', run], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const folder = await new Promise<string>((resolve) => createInterface(killed.stdout).once('line', resolve));
  await until(() => processesOf(folder).length > 0);
  killed.kill('SIGKILL');
  await until(() => processesOf(folder).length === 0 && !existsSync(folder));
});

test('a process of test files ends without an error after its last file, and the run sees its end', async () => {
  const running = startTestProcess({}, () => undefined);
  const { passed, failed } = await running.run('packages/protocol/src/money.test.ts');
  assert.ok(passed > 0);
  assert.deepEqual(failed, []);
  assert.deepEqual(await running.end(), []);
  assert.equal(running.isRunning(), false);
});
