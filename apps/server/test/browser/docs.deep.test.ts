import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { buildSite } from '@florin/docs/build';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { findFreePort } from '@florin/world';
import type { FastifyInstance } from 'fastify';
import type { Browser } from 'playwright-core';
import { docsDoor } from '#http/docs/docs-door.ts';
import { merchantDoor } from '#http/merchant/merchant-door.ts';
import { openApiDoor } from '#http/openapi.ts';
import { buildServer } from '#http/server.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { fuzzFactor } from '../fuzz/seed.ts';
import { MerchantWorld } from '../harness/merchant-fixture.ts';
import { violationsOf } from './axe.ts';
import { type Complaints, openChromium, openPage } from './chromium.ts';

let world: MerchantWorld;
let server: FastifyInstance;
let browser: Browser;
let origin: string;

before(async () => {
  await buildSite();
  browser = await openChromium();
  world = await MerchantWorld.open();
  const port = await findFreePort();
  origin = `http://127.0.0.1:${port}`;
  server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [
      merchantDoor(world.deps),
      openApiDoor({ origin, tables: [merchantApi, agentApi] }),
      docsDoor({ origin, chains: world.deps.chains }),
    ],
  });
  await server.listen({ host: '127.0.0.1', port });
});
after(async () => {
  await server.close();
  await browser.close();
  await world.close();
});

/** Asserts that the page sent requests only to this service, and that none failed or was blocked. */
function assertQuiet({ errors, urls }: Complaints): void {
  assert.deepEqual(errors, []);
  assert.deepEqual(
    urls.filter((url) => !url.startsWith(origin)),
    [],
  );
}

const looked = [
  ['/docs', 'Florin documentation'],
  ['/docs/guide/receive-webhooks', 'Receive webhooks'],
  ['/docs/api/products', 'Products'],
  ['/docs/states', 'States and transitions'],
  ['/docs/errors/100101', '100101'],
  ['/docs/contracts/payment-gateway/pay', 'pay'],
  ['/docs/chains', 'Chains and finality'],
] as const;

/** Both widths and both colour schemes. `npm test` looks at half of the pages in each of two, `npm run test:deep` at all in all. */
const looks = [
  { dark: false, phone: false },
  { dark: true, phone: true },
  ...(fuzzFactor === 1
    ? []
    : [
        { dark: true, phone: false },
        { dark: false, phone: true },
      ]),
];

for (const [index, { dark, phone }] of looks.entries()) {
  const look = `${dark ? 'dark' : 'light'}, ${phone ? 'on a phone' : 'on a desktop'}`;
  test(`pages comply with the policy, fit the screen and are accessible, ${look}`, async () => {
    const { page, complaints } = await openPage(browser, { isApart: true, dark, phone });
    for (const [path, title] of looked.filter((_page, at) => fuzzFactor > 1 || at % 2 === index)) {
      await page.goto(`${origin}${path}`);
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await page.waitForLoadState('networkidle');
      assert.deepEqual(await violationsOf(page), [], path);
      const overflow = 'document.documentElement.scrollWidth > innerWidth';
      assert.equal(await page.evaluate(overflow), false, `${path} is wider than the screen`);
    }
    assertQuiet(complaints);
    await page.context().close();
  });
}

test('pages can be read without scripts', async () => {
  const { page } = await openPage(browser, { isApart: true, javaScriptEnabled: false });
  await page.goto(`${origin}/docs/api/products`);
  await page.getByRole('heading', { level: 2, name: 'Create a product' }).waitFor();
  await page.getByRole('link', { name: 'Payment links' }).first().click();
  await page.waitForURL(/\/docs\/api\/payment-links/);
  await page.getByRole('link', { name: 'This page as Markdown' }).click();
  await page.waitForURL(/\/docs\/api\/payment-links\.md/);
  await page.context().close();
});

test('search finds a page by words and by an error code', async () => {
  const { page, complaints } = await openPage(browser, { isApart: true });
  await page.goto(`${origin}/docs`);
  for (const [words, result] of [
    ['reorganisation finality', /\/docs\/chains/],
    ['100503', /\/docs\/errors\/100503/],
    ['refund', /\/docs\/(?:api|guide)\/refunds/],
    ['webhook signature', /\/docs\/webhooks#verify-the-signature-of-a-webhook/],
    ['idempotency', /\/docs\/conventions#idempotency-and-retries/],
    ['testing', /\/docs\/guide\/testing/],
    ['node', /\/docs\/guide\/receive-webhooks#nodejs/],
    ['cli login', /\/docs\/guide\/command-line#login/],
    ['publishable key', /\/docs\/authentication#keys-in-browsers/],
    ['refund webhook', /\/docs\/guide\/refunds#the-webhooks-of-a-refund/],
    ['session.paid', /\/docs\/events#sessionpaid/],
  ] as const) {
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('searchbox').fill(words);
    await page.locator('.result').first().waitFor();
    // Their pages and headings tell results apart.
    const shown = await page.locator('.result').allInnerTexts();
    assert.equal(new Set(shown).size, shown.length, shown.join(', '));
    assert.deepEqual(await violationsOf(page), []);
    await page.getByRole('searchbox').press('Enter');
    await page.waitForURL(result);
  }
  assertQuiet(complaints);
  await page.context().close();
});

test('a page shows its place, its neighbours, and its code in tabs', async () => {
  const { page, complaints } = await openPage(browser, { isApart: true });
  await page.goto(`${origin}/docs/api/products`);
  const breadcrumbs = page.getByRole('navigation', { name: 'Breadcrumbs' });
  assert.deepEqual(await breadcrumbs.getByRole('listitem').allTextContents(), [
    'Documentation',
    'API',
    'Products',
  ]);
  await page.getByRole('link', { name: 'Next page' }).waitFor();
  await page.getByRole('link', { name: 'Previous page' }).waitFor();
  await page.getByRole('button', { name: 'Copy Code' }).first().waitFor();
  for (const [label, code] of [
    ['JavaScript', 'await fetch'],
    ['SDK', 'florin.products.create'],
    ['Python', 'requests.post'],
  ] as const) {
    await page.locator('.vp-code-group label', { hasText: label }).first().click();
    await page.locator('.vp-code-group .active', { hasText: code }).first().waitFor();
  }
  assertQuiet(complaints);
  await page.context().close();
});

test('the sidebar shows the page that is read, and a table of fields shows every column', async () => {
  const { page, complaints } = await openPage(browser, { isApart: true });
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const path of ['/docs/api/sessions', '/docs/runbook/restore']) {
    await page.goto(`${origin}${path}`);
    await page.waitForFunction(`(() => {
      const link = document.querySelector('.VPSidebar .is-link.is-active')?.getBoundingClientRect();
      return link !== undefined && link.top > 0 && link.bottom < innerHeight;
    })()`);
    const isAnyWide = `[...document.querySelectorAll('.vp-doc table')].some(
      ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)`;
    assert.equal(await page.evaluate(isAnyWide), false, path);
  }
  assertQuiet(complaints);
  await page.context().close();
});

test('on a phone no table is wider than the screen, and a cell of a wide one says which column it is of', async () => {
  const { page, complaints } = await openPage(browser, { isApart: true, phone: true });
  await page.setViewportSize({ width: 375, height: 800 });
  for (const path of [
    'api/sessions',
    'api/dashboard',
    'runbook/restore',
    'errors',
    'chains',
    'states',
    'events',
  ]) {
    await page.goto(`${origin}/docs/${path}`);
    await page.locator('.vp-doc table').first().waitFor();
    const wide = `[...document.querySelectorAll('.vp-doc table')].filter(
      ({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1).map(({ innerText }) => innerText.slice(0, 200))`;
    assert.deepEqual(await page.evaluate(wide), [], path);
  }
  await page.goto(`${origin}/docs/api/dashboard`);
  const label = `getComputedStyle(document.querySelector('td:nth-child(2)'), '::before').content`;
  assert.equal(await page.evaluate(label), '"Method and path: "');
  assert.deepEqual(await violationsOf(page), []);
  assertQuiet(complaints);
  await page.context().close();
});

test('a reader chooses between light and dark, and the choice stays', async () => {
  const { page, complaints } = await openPage(browser, { isApart: true });
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.goto(`${origin}/docs`);
  const dark = page.locator('html.dark');
  assert.equal(await dark.count(), 0);
  await page.getByRole('switch', { name: 'Switch to dark theme' }).click();
  await dark.waitFor();
  await page.reload();
  await page.getByRole('switch', { name: 'Switch to light theme' }).waitFor();
  assert.equal(await dark.count(), 1);
  assertQuiet(complaints);
  await page.context().close();
});

test('the console calls an operation with the reader’s key, and refuses to send a secret key', async () => {
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId, { permissions: ['products:write'] });
  const { page, complaints } = await openPage(browser, { isApart: true });
  await page.goto(`${origin}/docs/api/products`);
  await page.getByRole('button', { name: 'Try POST /payment/v1/product/create' }).click();
  const console_ = page.locator('.console').first();
  const send = console_.getByRole('button', { name: 'Send' });
  await console_.getByLabel('API key').fill(await world.addKey(merchantId));
  await send.click();
  await console_.getByText('The service refuses secret keys from browsers').waitFor();
  await console_.getByLabel('API key').fill(key);
  await send.click();
  await console_.getByText('HTTP 200').waitFor();
  const answer = JSON.parse((await console_.getByRole('region', { name: 'Answer' }).textContent()) ?? '');
  assert.deepEqual([answer.code, answer.data.name], [0, 'Green tea']);
  assert.deepEqual(await violationsOf(page), []);
  assertQuiet(complaints);
  await page.context().close();
});

test('a restricted key in the fragment fills the consoles and leaves the address, and a secret key does neither', async () => {
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId, { permissions: ['products:read'] });
  for (const given of [key, await world.addKey(merchantId)]) {
    const isTaken = given === key;
    const { page } = await openPage(browser, { isApart: true });
    await page.goto(`${origin}/docs/api/products#consoleKey=${given}`);
    const path = 'GET /payment/v1/product/list/:page/:size';
    await page.getByRole('button', { name: `Try ${path}` }).click();
    const field = page.locator('.console').getByLabel('API key');
    assert.equal(await field.inputValue(), isTaken ? key : '');
    assert.equal(new URL(page.url()).hash === '', isTaken);
    await page.context().close();
  }
});

test('an unknown page of the documentation is a not-found page', async () => {
  const { page } = await openPage(browser, { isApart: true });
  const response = await page.goto(`${origin}/docs/no-such-page`);
  assert.equal(response?.status(), 404);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  assert.deepEqual(await violationsOf(page), []);
  await page.context().close();
});

test('the first load of a guide transfers at most 120 KiB', async () => {
  const { page } = await openPage(browser, { isApart: true });
  let bytes = 0;
  page.on('requestfinished', async (request) => {
    const { responseBodySize, responseHeadersSize } = await request.sizes();
    bytes += responseBodySize + responseHeadersSize;
  });
  await page.goto(`${origin}/docs/guide/first-payment`);
  await page.waitForLoadState('networkidle');
  assert.ok(bytes > 20_000 && bytes <= 120 * 1024, `${bytes} bytes`);
  await page.context().close();
});
