import assert from 'node:assert/strict';
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

/** The package as it is published: packed, installed into a clean folder, and used there. */

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'florin-sdk-package-'));
const shopFolder = join(folder, 'shop');
/** Too large to be everybody's dependencies, or only for this test. */
const tools = [
  'publint@0.3.25',
  '@arethetypeswrong/cli@0.18.5',
  'hono@4.13.19',
  'typescript@5.9.3',
  '@types/node@24.19.2',
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
  cpSync(join(checkout, 'examples/express-shop'), shopFolder, {
    recursive: true,
    filter: (path) => !/node_modules|\.tgz$|\.sqlite/.test(path),
  });
  execFileSync('npm', install, { cwd: shopFolder, stdio: ['ignore', 'ignore', 'inherit'] });
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
export const orderOf = (event: FlorinEvent): unknown =>
  event.type === 'session.paid' ? event.data.session.metadata['order'] : undefined;
export { expressWebhook, fastifyWebhook, fixture, honoWebhook, sign, startWorld, unwrap, webhookHandler };
`;

test('a strict program compiles against the published types, without the types of browsers', async () => {
  writeFileSync(join(folder, 'program.ts'), program);
  const options = [
    '--noEmit',
    '--strict',
    '--exactOptionalPropertyTypes',
    '--noPropertyAccessFromIndexSignature',
  ];
  await tool('tsc', ...options, '--lib', 'es2022', '--types', 'node', '--module', 'nodenext', 'program.ts');
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

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

async function startShop(environment: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...environment };
  const child = spawn(process.execPath, ['shop.js'], {
    cwd: shopFolder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('the shop is at')) break;
  child.stdout.resume();
  return child;
}

/** Asks every half second, for two minutes at most. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 240; attempt += 1) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  assert.fail(`never came: ${what}`);
}

test('an example takes less than 150 lines', () => {
  const lines = ['shop.js', 'store.js', 'register.js'].flatMap((name) =>
    readFileSync(join(shopFolder, name), 'utf8').trimEnd().split('\n'),
  );
  assert.ok(lines.length < 150, String(lines.length));
});

test('the Express shop sells, gives money back and lets an order expire, in a world of its own', async () => {
  const testing = join(folder, 'node_modules/@florin/sdk/dist/testing.js');
  const { startWorld } = (await import(pathToFileURL(testing).href)) as typeof import('./testing.ts');
  const shopUrl = `http://127.0.0.1:${await freePort()}`;
  const world = await startWorld({ checkout });
  const { manifest, florin } = world;
  const settings = { FLORIN_URL: manifest.origin, FLORIN_KEY: manifest.secretKey, SHOP_URL: shopUrl };
  const { stdout: key } = await run(process.execPath, ['register.js'], { cwd: shopFolder, env: settings });
  const shop = await startShop({
    ...settings,
    FLORIN_WEBHOOK_KEY: key.trim(),
    STAFF_TOKEN: 'staff',
    MERCHANT_KEY: manifest.merchantWallet.privateKey,
    RPC_URL: manifest.chains.find(({ name }) => name === 'base')?.rpcUrl ?? '',
    // The world's clock will be ahead of this machine's.
    TOLERANCE_SECONDS: '3600',
  });
  try {
    const buy = async (product = 'coffee') => {
      const { headers } = await fetch(`${shopUrl}/buy/${product}`, { method: 'POST', redirect: 'manual' });
      const [, sessionId = ''] = /\/checkout\/(sess_\w+)/.exec(headers.get('location') ?? '') ?? [];
      const { session } = await florin.sessions.retrieve(sessionId);
      return { sessionId, order: String(session.metadata['order']) };
    };
    const orderIs = (order: string, status: string) =>
      until(`${order} ${status}`, async () =>
        (await (await fetch(`${shopUrl}/orders/${order}`)).text()).includes(`Order: ${status}`),
      );
    const paid = await buy();
    await orderIs(paid.order, 'open');
    // The fee does not come back, so the wallet needs more than this one order.
    await world.pay((await buy('mug')).sessionId, { until: 'completed' });
    await world.pay(paid.sessionId, { until: 'completed' });
    await orderIs(paid.order, 'paid');
    const refund = (token: string) =>
      fetch(`${shopUrl}/staff/refund/${paid.order}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      });
    assert.equal((await refund('')).status, 401);
    const refunded = await refund('staff');
    assert.equal(refunded.status, 200, await refunded.text());
    await orderIs(paid.order, 'refunded');
    const { session } = await florin.sessions.retrieve(paid.sessionId);
    assert.equal(session.refundedAmount, session.amount);

    const detected = await buy();
    await world.pay(detected.sessionId, { until: false });
    await world.reorg(1, { chain: 'base' });
    const left = await buy();
    await world.advance('40m');
    await orderIs(left.order, 'expired');
    const facts = await world.act('underpay', { token: 'base::usdt' });
    assert.match(facts['session'] ?? '', /^sess_/);
    await assert.rejects(world.act('moon'), { slug: 'argument_invalid' });
  } finally {
    const ended = once(shop, 'exit');
    shop.kill();
    await Promise.all([ended, world.stop()]);
  }
});
