import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** The package as it is published: packed, installed into a clean folder, and used there. */

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'florin-sdk-package-'));
/** Too large to be everybody's dependencies, or only for this test. */
const tools = [
  'publint@0.3.25',
  '@arethetypeswrong/cli@0.18.5',
  'hono@4.13.19',
  'typescript@5.9.3',
  '@types/node@24.19.2',
  '@types/express@5.0.3',
];
const npmFlags = ['--ignore-scripts', '--no-audit', '--no-fund'];
let tarball: string;

before(() => {
  // This repository runs no scripts of packages, so packing alone would not build.
  execFileSync('npm', ['run', 'build', '--workspace', '@florin/sdk'], { cwd: checkout, stdio: 'ignore' });
  const pack = ['pack', '--workspace', '@florin/sdk', '--pack-destination', folder, '--json'];
  const [{ filename }] = JSON.parse(
    execFileSync('npm', pack, { cwd: checkout, encoding: 'utf8' }).replace(/^[^[]*/, ''),
  );
  tarball = join(folder, filename);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const install = ['install', ...npmFlags, tarball];
  execFileSync('npm', [...install, ...tools], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
});
after(() => rmSync(folder, { recursive: true }));

function tool(name: string, ...args: readonly string[]): Promise<{ stdout: string }> {
  return run(process.execPath, [join(folder, 'node_modules/.bin', name), ...args], { cwd: folder });
}

test('publint and are-the-types-wrong find nothing, and the package depends on nothing', async () => {
  const { stdout } = await tool('publint', 'run', '--strict', tarball);
  assert.match(stdout, /All good!/);
  await tool('attw', '--profile', 'esm-only', tarball);
  const installed = JSON.parse(readFileSync(join(folder, 'node_modules/@florin/sdk/package.json'), 'utf8'));
  assert.deepEqual(installed.dependencies ?? {}, {});
});

const program = `
import Florin, { FlorinError, type FlorinEvent, usd } from '@florin/sdk';
import { fixture, sign, startWorld } from '@florin/sdk/testing';
import { expressWebhook, fastifyWebhook, honoWebhook, unwrap, webhookHandler } from '@florin/sdk/webhooks';

const florin = new Florin(process.env['FLORIN_KEY'], { baseUrl: 'https://pay.example.com' });
export async function buy(order: string): Promise<string> {
  try {
    const lineItems = [{ name: 'Tea', price: usd('1') }];
    const { paymentUrl } = await florin.checkout.sessions.create({ settlementToken: 'base::usdc', lineItems });
    return paymentUrl;
  } catch (error) {
    if (error instanceof FlorinError && error.slug === 'amount_out_of_range') return error.docUrl;
    throw error;
  }
}
declare module '@florin/sdk' {
  interface Shop {
    metadata: { order: string };
  }
}
export const orderOf = (event: FlorinEvent): string | undefined =>
  event.type === 'session.paid' ? event.data.session.metadata.order : undefined;
export { expressWebhook, fastifyWebhook, fixture, honoWebhook, sign, startWorld, unwrap, webhookHandler };
`;

test('a strict program compiles against the published types, without the types of browsers', async () => {
  writeFileSync(join(folder, 'program.ts'), program);
  // Those that the guide calls strict TypeScript.
  const printedPrograms = ['shop', 'register', 'order', 'shop.test'].map((name) => `${name}.mts`);
  for (const name of printedPrograms)
    writeFileSync(join(folder, name), printed(name.replace('.mts', '.mjs')));
  const options = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noPropertyAccessFromIndexSignature',
  ];
  await tool('tsc', ...options, '--lib', 'es2022', '--types', 'node', '--module', 'nodenext', 'program.ts');
  await tool('tsc', '--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', ...printedPrograms);
});

test('the published types bring what they name, also where no types are taken and libraries are checked', async () => {
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: false, target: 'es2023', module: 'nodenext' },
    ...{ lib: ['es2023', 'dom'], types: [] },
  };
  const text =
    "import type { TestWorld } from '@florin/sdk/testing';\nexport const stop = (world: TestWorld) => world.stop();\n";
  writeFileSync(join(folder, 'types.ts'), text);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.ts'] }));
  await tool('tsc', '--project', 'tsconfig.json');
  rmSync(join(folder, 'tsconfig.json'));
});

test('a webhook for Hono takes an event, and refuses one that is not signed', async () => {
  const load = (path: string) => import(pathToFileURL(join(folder, 'node_modules', path)).href);
  const [{ Hono }, { honoWebhook }, { fixture, sign }] = await Promise.all(
    ['hono/dist/index.js', '@florin/sdk/dist/webhooks.js', '@florin/sdk/dist/testing.js'].map(load),
  );
  const secret = `whsec_${'A'.repeat(32)}`;
  const types: string[] = [];
  const app = new Hono();
  app.post(
    '/hook',
    honoWebhook({ secret }, ({ type }: { type: string }) => types.push(type)),
  );
  const { body, headers } = await sign(fixture('session.paid'), secret);
  const statusOf = async (text: string) =>
    (await app.request('/hook', { method: 'POST', body: text, headers })).status;
  assert.deepEqual([await statusOf(body), await statusOf(`${body} `), types], [204, 400, ['session.paid']]);
});

const maxFirstOrderLines = 35;
/**
 * Processor seconds of the installation, the registration and the shop. Three minutes of a machine are far more, and the rest is
 * the network and blocks, one a second, for which a slow machine is not to blame.
 */
const maxFirstOrderSeconds = 60;

/** A program that the guide of the SDK prints. */
function printed(name: string): string {
  const guide = readFileSync(join(checkout, 'docs/guide/sdk.md'), 'utf8');
  const block = new RegExp(`^\`\`\`js ${name}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(guide)?.[1];
  if (block === undefined) throw new Error(`the guide prints no ${name}`);
  return block;
}

test('a clean folder has its first paid order after 35 lines', async (t) => {
  const shop = join(folder, 'first-order');
  mkdirSync(shop);
  const programs = ['shop.mjs', 'register.mjs'].map((name) => ({ name, text: printed(name) }));
  const lines = programs.flatMap(({ text }) => text.split('\n')).filter((line) => line.trim() !== '').length;
  assert.ok(lines <= maxFirstOrderLines, `${lines} lines`);
  const testing = pathToFileURL(join(folder, 'node_modules/@florin/sdk/dist/testing.js')).href;
  const { startWorld } = (await import(testing)) as typeof import('./testing.ts');
  await using world = await startWorld({ checkout });
  const beginMs = performance.now();
  const beginSeconds = childrenSeconds();
  writeFileSync(join(shop, 'package.json'), JSON.stringify({ private: true }));
  for (const { name, text } of programs) writeFileSync(join(shop, name), text);
  await run('npm', ['install', ...npmFlags, tarball, 'express@5.3.0'], { cwd: shop });
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const { origin, secretKey } = world.manifest;
  const env = { ...process.env, FLORIN_URL: origin, FLORIN_KEY: secretKey, PORT: port };
  const args = ['register.mjs', `${url}/webhooks/florin`];
  const { stdout: key } = await run(process.execPath, args, { cwd: shop, env });
  const server = spawn(process.execPath, ['shop.mjs'], {
    cwd: shop,
    env: { ...env, FLORIN_WEBHOOK_KEY: key.trim() },
    stdio: 'ignore',
  });
  const ended = once(server, 'exit');
  try {
    const page = await answerOf(() => fetch(`${url}/buy`, { method: 'POST', redirect: 'manual' }));
    const [, sessionId = ''] = /\/checkout\/(sess_\w+)/.exec(page.headers.get('location') ?? '') ?? [];
    const { session } = await world.pay(sessionId);
    const order = `${url}/orders/${String(session.metadata['order'])}`;
    while (!(await (await fetch(order)).text()).endsWith(': paid'))
      await new Promise((resolve) => setTimeout(resolve, 250));
  } finally {
    server.kill();
    await ended;
  }
  const used = childrenSeconds() - beginSeconds;
  const figures = `${lines} lines, ${used.toFixed(1)} processor seconds, ${((performance.now() - beginMs) / 1_000).toFixed(1)} s`;
  t.diagnostic(`${figures} with the installation`);
  assert.ok(used > 0 && used < maxFirstOrderSeconds, figures);
});

/** Processor seconds of the processes that this one started and that have ended: fields 16 and 17 of proc(5), in hundredths. */
function childrenSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** The first answer of a server that is starting; asked for a minute. */
async function answerOf(ask: () => Promise<Response>): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      if (attempt === 240) throw error;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
}
