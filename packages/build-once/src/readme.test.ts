import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = new URL('../', import.meta.url);

test('the example of the README builds each content once, and names the last one', async () => {
  // Inside the package, so that its own name is found.
  const scratch = await mkdtemp(fileURLToPath(new URL('.readme-', folder)));
  try {
    const readme = await readFile(new URL('README.md', folder), 'utf8');
    await writeFile(`${scratch}/example.ts`, /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '');
    const run = async () =>
      (await promisify(execFile)(process.execPath, ['example.ts'], { cwd: scratch })).stdout;
    assert.equal(await run(), 'built <p>Hello</p>\nkept <p>Hello</p>\nbuilt <p>Good evening</p>\n');
    const { build, policy } = JSON.parse(await readFile(`${scratch}/dist/current.json`, 'utf8')) as {
      build: string;
      policy: string;
    };
    assert.equal(policy, "default-src 'self'");
    assert.deepEqual((await readdir(`${scratch}/dist`)).sort(), [build, 'current.json'].sort());
  } finally {
    await rm(scratch, { recursive: true });
  }
});
