import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { openTestService, success } from './service.fixture.ts';
import { fixture, sign } from './testing.ts';

const run = promisify(execFile);
const entry = (name: string) => fileURLToPath(new URL(`${name}.ts`, import.meta.url));
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-sdk-runtime-'));
});
after(() => rm(folder, { recursive: true }));

/** One file with everything that an entry imports; fails where that is more than the package itself. */
async function bundle(name: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry(name)],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

/** Compressed bytes that a program carries along. */
const mostBytes = { florin: 9_216, webhooks: 3_072 } as const;

for (const [name, most] of Object.entries(mostBytes)) {
  test(`${name} depends on nothing, names nothing of Node.js, and takes at most ${most} compressed bytes`, async () => {
    const text = await bundle(name);
    assert.deepEqual(text.match(/\b(?:process|Buffer|global|require|__dirname)\b|node:\w+/g), null);
    const { length } = gzipSync(text);
    assert.ok(length > most / 2 && length <= most, `${name} takes ${length} bytes`);
  });
}

/** Uses the bundles as a Worker does: with web interfaces alone. */
const program = `
import { Florin, usd } from './florin.js';
import { webhookHandler } from './webhooks.js';

const { baseUrl, secret, body, headers } = TASK;
const florin = new Florin('sk_live_test', { baseUrl });
const ids = [];
for await (const { session } of florin.sessions.list()) ids.push(session.sessionId);
const POST = webhookHandler({ secret }, (event) => ids.push(event.type));
const { status } = await POST(new Request('http://shop.test/', { method: 'POST', body, headers }));
console.log(JSON.stringify([...ids, status, usd('4.50')]));
`;

/** This Node.js, and what \`npm run agent-runtimes\` installs. */
const runtimes = [
  { name: 'Node.js', command: process.execPath, flags: [] as string[] },
  ...Object.entries({
    Deno: { command: process.env['FLORIN_DENO'], flags: ['run', '--allow-net'] },
    Bun: { command: process.env['FLORIN_BUN'], flags: ['run'] },
  }).flatMap(([name, { command, flags }]) => (command === undefined ? [] : [{ name, command, flags }])),
];

for (const { name, command, flags } of runtimes) {
  test(`the SDK reads a list and receives an event in ${name}`, async () => {
    const sessions = [{ session: { sessionId: 'sess_1' } }];
    await using service = await openTestService(success({ sessions, hasMore: false, nextCursor: '' }));
    const secret = `whsec_${'A'.repeat(32)}`;
    const task = { baseUrl: service.baseUrl, secret, ...(await sign(fixture('session.paid'), secret)) };
    for (const each of ['florin', 'webhooks'])
      await writeFile(join(folder, `${each}.js`), await bundle(each));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
    const file = join(folder, 'program.js');
    await writeFile(file, program.replace('TASK', JSON.stringify(task)));
    const { stdout } = await run(command, [...flags, file], { cwd: folder });
    assert.deepEqual(JSON.parse(stdout), ['sess_1', 'session.paid', 204, 4_500_000]);
  });
}
