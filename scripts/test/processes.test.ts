import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { processesOf } from './run-folder.ts';

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
