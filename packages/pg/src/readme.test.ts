import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openedDatabase } from './test-database.ts';

test('the example of the README runs', async (t) => {
  const database = await openedDatabase();
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
  const file = fileURLToPath(new URL(`../example-${process.pid}.ts`, import.meta.url));
  t.after(async () => {
    await rm(file, { force: true });
    await database.close();
  });
  await writeFile(file, example);
  const env = { ...process.env, DATABASE_URL: database.url };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  assert.equal(stdout, 'Hello Ada. Hello Ada. \n');
});
