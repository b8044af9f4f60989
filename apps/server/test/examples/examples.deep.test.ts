import assert from 'node:assert/strict';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startWorld, type TestWorld } from '@florin/sdk/testing';
import { findFreePort } from '@florin/world';
import { openChromium } from '../browser/chromium.ts';
import { copyCheckout } from '../harness/checkout-copy.ts';
import { commandsOf, runCommands, startCommands, until } from './example.ts';

/** The examples by the commands of their READMEs, in a copy of the checkout with a world in its own folder. */

let checkout: string;
let world: TestWorld;

before(async () => {
  checkout = copyCheckout();
  world = await startWorld({ checkout, home: join(checkout, '.florin') });
});
after(async () => {
  await world?.stop();
  rmSync(checkout, { recursive: true });
});

const folderOf = (name: string): string => join(checkout, 'examples', name);

for (const name of ['express-shop', 'hono-worker', 'nextjs', 'vendure-shop', 'agent'])
  test(`the example ${name} takes less than 150 lines`, () => {
    const cwd = folderOf(name);
    // Before anything is installed there.
    const lines = globSync('**/*.{js,jsx,sql}', { cwd }).flatMap((file) =>
      readFileSync(join(cwd, file), 'utf8').trimEnd().split('\n'),
    );
    assert.ok(lines.length > 0 && lines.length < 150, String(lines.length));
  });

const orderIs = (url: string, status: string) =>
  until(
    () => `${url} ${status}`,
    async () => (await (await fetch(url)).text()).includes(`Order: ${status}`),
  );

/** Buys in a shop that leads to the payment page; returns the session and the page of the order. */
async function buy(shop: string, product = 'coffee') {
  const { headers } = await fetch(`${shop}/buy/${product}`, { method: 'POST', redirect: 'manual' });
  const [, sessionId = ''] = /\/checkout\/(sess_\w+)/.exec(headers.get('location') ?? '') ?? [];
  const { session } = await world.florin.sessions.retrieve(sessionId);
  return { sessionId, order: `${shop}/orders/${String(session.metadata['order'])}` };
}

const unsigned = (url: string) => fetch(url, { method: 'POST', body: '{}' });

/** Where a shop listens, and what tells it so. */
async function shopAddress() {
  const port = String(await findFreePort());
  const url = `http://127.0.0.1:${port}`;
  return { url, settings: { PORT: port, SHOP_URL: url } };
}

test('the agent learns the price, pays once within its limits, and checks the chain', async () => {
  const folder = folderOf('agent');
  const newest = async () => (await world.florin.sessions.list().toArray({ limit: 1 }))[0]?.session;
  const first = boughtIn(await runCommands(folder, commandsOf(folder)));
  assert.deepEqual([first.isRepeat, first.microUsd], [false, '25000000']);
  const { session } = await world.florin.sessions.retrieve(first.sessionId);
  assert.deepEqual([session.initiateTx, session.amount], [first.txHash, 25_000_000]);
  const limits = JSON.parse(readFileSync(join(folder, 'limits.json'), 'utf8')) as object;
  const buyMug = async (name: string, change: object = {}) => {
    writeFileSync(join(folder, 'limits.json'), JSON.stringify({ ...limits, ...change }));
    const { origin, linkIds } = world.manifest;
    const buy = `npm run --silent buy -- ${origin}/link/${linkIds.fixed} '${name}'`;
    return boughtIn(await runCommands(folder, buy, { PAYER_KEY: payerKey() }));
  };
  const again = await buyMug('a mug for the office');
  assert.deepEqual([again.sessionId, again.txHash, again.isRepeat], [first.sessionId, first.txHash, true]);
  const refused = (change: object, message: RegExp) =>
    assert.rejects(buyMug('another', change), (error: { stderr: string }) => message.test(error.stderr));
  await refused({ maxMicroUsd: '24999999' }, /the most allowed is 24999999/);
  await refused({ hosts: [] }, /the limits do not name the host/);
  await refused({ dailyMicroUsd: '49999999' }, /exceed the day's 49999999/);
  assert.equal((await newest())?.sessionId, first.sessionId);
});

interface Bought {
  readonly sessionId: string;
  readonly txHash: string;
  readonly isRepeat: boolean;
  readonly microUsd: string;
}

/** What the agent prints last. */
function boughtIn(printed: string): Bought {
  return JSON.parse(printed.trim().split('\n').at(-1) ?? '') as Bought;
}

function payerKey(): string {
  const manifest = JSON.parse(readFileSync(join(checkout, '.florin/world.json'), 'utf8')) as {
    payers: [{ privateKey: string }];
  };
  return manifest.payers[0].privateKey;
}

test('the Hono worker sells in the runtime of Workers', async () => {
  const folder = folderOf('hono-worker');
  const { url, settings } = await shopAddress();
  await using _ = await startCommands(folder, commandsOf(folder), { url, settings });
  const paid = await buy(url);
  await orderIs(paid.order, 'open');
  assert.equal((await unsigned(`${url}/webhooks/florin`)).status, 400);
  await world.pay(paid.sessionId);
  await orderIs(paid.order, 'paid');
  assert.equal((await fetch(`${url}/buy/tea`, { method: 'POST' })).status, 404);
});

test('the Next.js shop has the checkout in its page, and shows what its webhook was told', async () => {
  const folder = folderOf('nextjs');
  const { url, settings } = await shopAddress();
  await using _ = await startCommands(folder, commandsOf(folder), { url, settings });
  assert.equal((await unsigned(`${url}/webhooks/florin`)).status, 400);
  const browser = await openChromium();
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByRole('button', { name: 'Flat white, $4.50' }).click();
    await page.getByRole('heading', { name: 'Order: open' }).waitFor();
    const frame = page.frameLocator('florin-checkout iframe');
    await frame.getByText('Flat white').first().waitFor();
    const order = page.url().split('/').at(-1) ?? '';
    const [view] = await world.florin.sessions.search({ metadata: { order } }).toArray({ limit: 1 });
    await world.pay(view?.session.sessionId ?? '');
    await page.getByRole('heading', { name: 'Order: paid' }).waitFor({ timeout: 120_000 });
  } finally {
    await browser.close();
  }
});

test('the Express shop sells, gives money back and lets an order expire', async () => {
  const folder = folderOf('express-shop');
  const { merchantWallet, chains } = world.manifest;
  const { url, settings } = await shopAddress();
  const staff = {
    STAFF_TOKEN: 'staff',
    MERCHANT_KEY: merchantWallet.privateKey,
    RPC_URL: chains.find(({ name }) => name === 'base')?.rpcUrl ?? '',
    // The world's clock will be ahead of this machine's.
    TOLERANCE_SECONDS: '3600',
  };
  await using _ = await startCommands(folder, commandsOf(folder), {
    url,
    settings: { ...settings, ...staff },
  });
  const paid = await buy(url);
  await orderIs(paid.order, 'open');
  // The fee does not come back, so the wallet needs more than this one order.
  await world.pay((await buy(url, 'mug')).sessionId, { until: 'completed' });
  await world.pay(paid.sessionId, { until: 'completed' });
  await orderIs(paid.order, 'paid');
  const refund = (token: string) =>
    fetch(paid.order.replace('/orders/', '/staff/refund/'), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    });
  assert.equal((await refund('')).status, 401);
  const refunded = await refund('staff');
  assert.equal(refunded.status, 200, await refunded.text());
  await orderIs(paid.order, 'refunded');
  const { session } = await world.florin.sessions.retrieve(paid.sessionId);
  assert.equal(session.refundedAmount, session.amount);

  const detected = await buy(url);
  await world.pay(detected.sessionId, { until: false });
  await world.reorg(1, { chain: 'base' });
  const left = await buy(url);
  await world.advance('40m');
  await orderIs(left.order, 'expired');
});

test('the commands of the examples change no file of the checkout', () => {
  const root = new URL('../../../../', import.meta.url);
  for (const file of globSync('examples/*/package.json', { cwd: root }))
    assert.equal(readFileSync(join(checkout, file), 'utf8'), readFileSync(new URL(file, root), 'utf8'), file);
});
