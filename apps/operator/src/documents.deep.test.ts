import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startTestPostgres } from '@florin/server/testing-database';
import { commandLinesOf, readCommands } from './documents.fixture.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The command that a line begins with; undefined for a family alone, as in a sentence. */
function commandOf(words: readonly string[]): string | undefined {
  const found = [words.slice(0, 2).join(' '), words[0] ?? ''].find((name) => commands.has(name));
  return found === 'operator' ? undefined : found;
}
const commands = readCommands();

/** The commands that succeed at least once in the tests of this folder. */
async function readSucceeded(): Promise<ReadonlySet<string | undefined>> {
  const folder = mkdtempSync(join(tmpdir(), 'florin-commands-'));
  const server = process.env[sharedServer] === undefined ? await startTestPostgres() : undefined;
  try {
    const record = join(folder, 'record');
    const { NODE_TEST_CONTEXT: _context, ...outer } = process.env;
    const shared = server === undefined ? {} : { [sharedServer]: server.url };
    const child = spawn(
      process.execPath,
      [
        ...process.execArgv.filter((flag) => /^--(conditions|disable-warning)/.test(flag)),
        ...[fileURLToPath(new URL('./command-record.fixture.ts', import.meta.url)), ...filesWithCommands()],
      ],
      {
        cwd: root,
        env: { ...outer, ...shared, FLORIN_COMMAND_RECORD: record },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let said = '';
    child.stdout.on('data', (part) => {
      said += String(part);
    });
    await once(child, 'close');
    assert.equal(child.exitCode, 0, said);
    const lines = readFileSync(record, 'utf8').trim().split('\n');
    return new Set(lines.map((line) => commandOf(JSON.parse(line) as string[])));
  } finally {
    await server?.stop();
    rmSync(folder, { recursive: true });
  }
}

const sharedServer = 'FLORIN_TEST_POSTGRES';

function filesWithCommands(): string[] {
  const all = globSync('apps/operator/src/*.test.ts', { cwd: root, exclude: ['**/documents*'] });
  return all.filter((path) => /\brunCli\b|cli-world/.test(readFileSync(join(root, path), 'utf8')));
}

test('every command of a runbook succeeds in a test', async () => {
  const pages = globSync('docs/runbook/*.md', { cwd: root });
  const lines = pages.flatMap((path) => commandLinesOf(readFileSync(join(root, path), 'utf8')));
  const named = new Set(
    lines.map((line) => commandOf(line.split(/\s+/))).filter((name) => name !== undefined),
  );
  assert.ok(named.size > 40);
  const succeeded = await readSucceeded();
  assert.deepEqual([...named].filter((name) => !succeeded.has(name)).sort(), []);
});
