import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { openTestService, success, type TestService } from './service.fixture.ts';
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
const mostBytes = { florin: 11_264, webhooks: 3_072 } as const;

for (const [name, most] of Object.entries(mostBytes)) {
  test(`${name} depends on nothing, names nothing of Node.js, and takes at most ${most} compressed bytes`, async () => {
    const text = await bundle(name);
    assert.deepEqual(text.match(/\b(?:process|Buffer|global|require|__dirname)\b|node:\w+/g), null);
    const { length } = gzipSync(text);
    assert.ok(length > most / 2 && length <= most, `${name} takes ${length} bytes`);
  });
}

/** Uses the bundles with web interfaces alone. */
const imports = `
import { Florin, usd } from './florin.js';
import { webhookHandler } from './webhooks.js';
`;
const statements = `
const { baseUrl, secret, body, headers } = TASK;
const florin = new Florin('sk_live_test', { baseUrl });
const ids = [];
for await (const { session } of florin.sessions.list()) ids.push(session.sessionId);
const POST = webhookHandler({ secret }, (event) => ids.push(event.type));
const { status } = await POST(new Request('http://shop.test/', { method: 'POST', body, headers }));
const found = JSON.stringify([...ids, status, usd('4.50')]);
`;
const program = `${imports}${statements}console.log(found);`;
const worker = `${imports}export default { async fetch() { ${statements}return new Response(found); } };`;
const expected = ['sess_1', 'session.paid', 204, 4_500_000];

/** This Node.js, and what \`npm run agent-runtimes\` installs. */
const runtimes = [
  { name: 'Node.js', command: process.execPath, flags: [] as string[] },
  ...Object.entries({
    Deno: { command: process.env['FLORIN_DENO'], flags: ['run', '--allow-net'] },
    Bun: { command: process.env['FLORIN_BUN'], flags: ['run'] },
  }).flatMap(([name, { command, flags }]) => (command === undefined ? [] : [{ name, command, flags }])),
];

/** Writes the bundles and a program beside them, with a service to ask and a notification to receive. */
async function place(file: string, text: string): Promise<TestService> {
  const sessions = [{ session: { sessionId: 'sess_1' } }];
  const service = await openTestService(success({ sessions, hasMore: false, nextCursor: '' }));
  const secret = `whsec_${'A'.repeat(32)}`;
  const task = { baseUrl: service.baseUrl, secret, ...(await sign(fixture('session.paid'), secret)) };
  for (const each of ['florin', 'webhooks']) await writeFile(join(folder, `${each}.js`), await bundle(each));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(folder, file), text.replace('TASK', JSON.stringify(task)));
  return service;
}

for (const { name, command, flags } of runtimes) {
  test(`the SDK reads a list and receives an event in ${name}`, async () => {
    await using _service = await place('program.js', program);
    const { stdout } = await run(command, [...flags, join(folder, 'program.js')], { cwd: folder });
    assert.deepEqual(JSON.parse(stdout), expected);
  });
}

/** The runtime of Cloudflare's Workers, which `npm run agent-runtimes` installs. */
const workerd = process.env['FLORIN_WORKERD'];
const workerConfig = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main), (name = "internet", network = (allow = ["private", "local"]))],
  sockets = [(name = "http", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [${['worker', 'florin', 'webhooks'].map((name) => `(name = "${name}.js", esModule = embed "${name}.js")`)}],
  compatibilityDate = "2026-01-01",
);`;

async function runWorker(command: string): Promise<void> {
  await using _service = await place('worker.js', worker);
  const port = await findPort();
  await writeFile(join(folder, 'worker.capnp'), workerConfig);
  const args = ['serve', join(folder, 'worker.capnp'), '--socket-addr', `http=127.0.0.1:${port}`];
  const child = spawn(command, args, { stdio: 'inherit' });
  try {
    assert.deepEqual(await (await answering(`http://127.0.0.1:${port}/`)).json(), expected);
  } finally {
    child.kill();
    await once(child, 'exit');
  }
}

if (workerd !== undefined)
  test('the SDK reads a list and receives an event in a Worker', () => runWorker(workerd));

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** Asks until something listens there, for a minute at most. */
async function answering(url: string): Promise<Response> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer !== undefined) return answer;
    await setTimeout(100);
  }
  return assert.fail(`nothing listens at ${url}`);
}
