import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@florin/world';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { noBrandImages, updateBranding } from '../harness/brand.ts';
import { Life } from '../life/life.ts';
import { openChromium, openPage } from './chromium.ts';
import { heardBy, hears, isTrueIn, ShopPage } from './shop-page.ts';
import { TestWallet } from './test-wallet.ts';

let life: Life;
let browser: Browser;
const shops: ShopPage[] = [];

before(async () => {
  browser = await openChromium();
  life = await Life.start();
  life.mine();
});
after(async () => {
  for (const shop of shops) shop.close();
  await browser.close();
  await life.close();
});

const sessionIdOf = (page: Page) => /\/checkout\/(sess_\w+)/.exec(page.url())?.[1] ?? '';

/** A shop whose page embeds the checkout of sessions over five dollars; unless it is foreign, the merchant lists its origin. */
async function openShop(
  options: { isForeign?: boolean; app?: string } = {},
): Promise<{ shop: ShopPage; paymentUrl: string }> {
  const begin = async () => {
    const lineItem = {
      itemType: 'one_time',
      quantity: 1,
      unitPrice: 5_000_000,
      productData: { productName: 'Tea' },
    };
    const body = { accountId: life.accountId, settlementToken: 'ethereum::usdc', lineItems: [lineItem] };
    return (await life.post<{ paymentUrl: string }>('/session/checkout/create', body)).paymentUrl;
  };
  const shop = await ShopPage.open(life.options.origin, life.merchantId, begin, options.app);
  shops.push(shop);
  await listOrigin(options.isForeign === true ? 'https://shop.example' : shop.origin);
  return { shop, paymentUrl: await begin() };
}

async function listOrigin(origin: string): Promise<void> {
  const brand = {
    merchantId: life.merchantId,
    images: noBrandImages,
    look: { color: '#aa3355' },
    embedOrigins: [origin],
  };
  await life.database.db.transaction((transaction) => updateBranding(transaction, life.options, brand));
}

/** Pays in the window of a payment, with a wallet that has enough. */
async function payIn(popup: Page): Promise<TestWallet> {
  const wallet = new TestWallet([life.ethereum]);
  await wallet.fund(life.ethereum, life.ethereum.token('usdc'), 30_000_000n);
  await wallet.inject(popup);
  await popup.reload();
  await popup.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await popup.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await popup.locator('#pay-button').click();
  return wallet;
}

test("a shop's button opens the checkout, its page hears of the payment, and its server asks the service", async () => {
  const { shop } = await openShop();
  const { page, complaints } = await openPage(browser);
  await shop.visit(page);
  const button = page.getByRole('button', { name: 'Pay' });
  const colorOf = `getComputedStyle(document.querySelector('florin-button').shadowRoot.querySelector('button')).backgroundColor`;
  await isTrueIn(page, `${colorOf} === 'rgb(170, 51, 85)'`);
  const [popup] = await Promise.all([page.context().waitForEvent('page'), button.click()]);
  await popup.waitForURL(/\/checkout\/sess_/);
  const wallet = await payIn(popup);
  const { sessionId = '', status = '' } = await hears(page, 'paid');
  // The event proves nothing: the shop's server asks the service.
  const { session } = await life.session(sessionId);
  assert.deepEqual([session.amount, session.payer.toLowerCase()], [5_000_000, wallet.address.toLowerCase()]);
  assert.ok(['paid', 'settling', 'completed'].includes(status), status);
  assert.equal(sessionId, sessionIdOf(popup));
  await popup.close();
  await hears(page, 'closed');
  const told = (await heardBy(page)).map(([name]) => name).filter((name) => name !== 'detected');
  assert.deepEqual([told, complaints.errors], [['paid', 'closed'], []]);
  await page.close();
});

test('a button that names a payment link opens its page', async () => {
  const { linkId } = await life.post<{ linkId: string }>('/payment/link/create', {
    ...{ linkType: 'custom', linkName: 'Tea', accountId: life.accountId, settlementToken: 'ethereum::usdc' },
    feeModel: 1,
    lineItems: [{ itemType: 'user_priced' }],
  });
  const code = `<florin-button link="${linkId}">Pay for Tea</florin-button>`;
  const { shop } = await openShop({ app: `document.body.insertAdjacentHTML('beforeend', '${code}')` });
  const { page } = await openPage(browser);
  await shop.visit(page);
  const [popup] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('button', { name: 'Pay for Tea' }).click(),
  ]);
  await popup.waitForURL((url) => url.pathname === `/link/${linkId}`);
  await popup.getByText('Tea').first().waitFor();
  await Promise.all([popup.close(), page.close()]);
});

/** The page and the server of the guide as printed, with this installation and this link. */
async function serveGuidePage(linkId: string): Promise<{ origin: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'florin-html-'));
  const guide = await readFile(new URL('../../../../docs/guide/plain-html.md', import.meta.url), 'utf8');
  const printed = (name: string) =>
    new RegExp(`^\`\`\`\\w+ ${name}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(guide)?.[1] ?? '';
  for (const name of ['shop.html', 'serve.mjs']) await writeFile(join(folder, name), printed(name));
  const port = String(await findFreePort());
  const env = { ...process.env, ORIGIN: life.options.origin, LINK: linkId, PORT: port };
  execFileSync('sh', ['-ec', printed('page')], { cwd: folder, env });
  const server = spawn(process.execPath, ['serve.mjs'], { cwd: folder, env, stdio: 'inherit' });
  const origin = `http://localhost:${port}`;
  while (!(await fetch(origin).catch(() => undefined))?.ok) assert.equal(server.exitCode, null);
  return {
    origin,
    async [Symbol.asyncDispose]() {
      server.kill();
      await once(server, 'exit');
      await rm(folder, { recursive: true });
    },
  };
}

test('the page that the guide for plain HTML prints sells without a server of its own, and shows what is paid', async () => {
  const product = { name: 'Tea', commonPrices: [5_000_000] };
  const { productId } = await life.post<{ productId: string }>('/product/create', product);
  const { linkId } = await life.post<{ linkId: string }>('/payment/link/create', {
    ...{ linkType: 'fixed', linkName: 'Tea', accountId: life.accountId, settlementToken: 'ethereum::usdc' },
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 5_000_000 }],
  });
  await using guide = await serveGuidePage(linkId);
  await listOrigin(guide.origin);
  const { page, complaints } = await openPage(browser);
  await page.goto(guide.origin);
  const button = page.getByRole('button', { name: 'Buy' });
  const [popup] = await Promise.all([page.context().waitForEvent('page'), button.click()]);
  await popup.waitForURL((url) => url.pathname === `/link/${linkId}`);
  await payIn(popup);
  await page.getByText('Thank you. Your flat white is paid.').waitFor();
  assert.deepEqual(complaints.errors, []);
  await Promise.all([popup.close(), page.close()]);
});

test('a shop has the checkout in its page: address and status in the frame, wallets in a window of their own', async () => {
  const { shop, paymentUrl } = await openShop();
  const { page, complaints } = await openPage(browser);
  await shop.visit(page, paymentUrl);
  const frame = page.frameLocator('iframe');
  const open = frame.getByRole('button', { name: 'Pay with a wallet in a new window' });
  const [own] = await Promise.all([page.context().waitForEvent('page'), open.click()]);
  await own.waitForURL(paymentUrl);
  await own.close();
  await frame.locator('#by-address').check();
  const wallet = new TestWallet([life.ethereum]);
  await frame.locator('#refund-input').fill(wallet.address);
  await frame.getByRole('button', { name: 'Show deposit address' }).click();
  const to = ((await frame.locator('#deposit .address').first().textContent()) ?? '').replaceAll(/\s/g, '');
  await isTrueIn(page, `document.querySelector('florin-checkout').clientHeight > 640`);
  const usdc = life.ethereum.token('usdc');
  await wallet.fund(life.ethereum, usdc, 30_000_000n);
  await wallet.transfer(life.ethereum, usdc, { to, amount: 5_000_000n });
  const { sessionId = '' } = await hears(page, 'paid');
  await frame.locator('[data-status=completed]').waitFor();
  assert.equal((await life.session(sessionId)).session.status, 'completed');
  assert.deepEqual(complaints.errors, []);
  await page.close();
});

test('a page that the merchant does not list frames nothing, hears nothing, and says so to its developer', async () => {
  const { shop, paymentUrl } = await openShop({ isForeign: true });
  const { page, complaints } = await openPage(browser);
  await shop.visit(page, paymentUrl);
  const refused = await hears(page, 'error');
  assert.equal(refused['reason'], 'not_listed');
  // The payer can still pay on the page itself.
  assert.equal(await page.locator('florin-checkout a').getAttribute('href'), paymentUrl);
  // Naming the origin that is listed does not help: the browser compares it with the page.
  const listed = new URL(paymentUrl);
  listed.pathname = `/embed${listed.pathname}`;
  listed.search = '?shop=https%3A%2F%2Fshop.example';
  await page.evaluate(`(async () => {
    const frame = document.createElement('iframe');
    frame.src = ${JSON.stringify(listed.href)};
    document.body.append(frame);
    await new Promise((resolve) => frame.addEventListener('load', resolve));
  })()`);
  assert.ok(
    complaints.errors.some((text) => text.includes('frame-ancestors')),
    complaints.errors.join('\n'),
  );
  const [popup] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('button', { name: 'Pay' }).click(),
  ]);
  await isTrueIn(page, 'window.heard.length > 1');
  assert.deepEqual(
    [(await heardBy(page)).map(([name]) => name), await page.evaluate('window.messages')],
    [['error', 'error'], []],
  );
  await Promise.all([page.close(), popup.close()]);
});

test('a button whose shop gives no page to pay says so', async () => {
  const code =
    'document.body.append(Object.assign(document.createElement("florin-button"), { createSession: () => undefined }))';
  const { shop } = await openShop({ app: code });
  const { page } = await openPage(browser);
  await shop.visit(page);
  await page.evaluate(
    `document.querySelector('florin-button:last-of-type').addEventListener('error', ({ detail }) => (window.failed = detail))`,
  );
  await page.getByRole('button', { name: 'Pay' }).last().click();
  await isTrueIn(page, "window.failed?.message === 'createSession gave no paymentUrl'");
  await page.close();
});

/** The blocks of one language in the guide, as printed, with the origin of this installation. */
async function printedBlocks(language: string): Promise<string[]> {
  const path = '../../../../docs/guide/embed-the-checkout.md';
  const guide = await readFile(new URL(path, import.meta.url), 'utf8');
  const blocks = guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return Array.from(blocks, ([, block = '']) => block.replaceAll('https://pay.example', life.options.origin));
}

test('the elements that the guide prints open a link, frame a session, and have the look that it prints', async () => {
  const { linkId } = await life.post<{ linkId: string }>('/payment/link/create', {
    ...{ linkType: 'custom', linkName: 'Tea', accountId: life.accountId, settlementToken: 'ethereum::usdc' },
    feeModel: 1,
    lineItems: [{ itemType: 'user_priced' }],
  });
  const [[html = ''], [css]] = await Promise.all([printedBlocks('html'), printedBlocks('css')]);
  const { paymentUrl } = await openShop();
  const code = html
    .replace('lnk_...', linkId)
    .replace(`${life.options.origin}/checkout/sess_...#...`, paymentUrl);
  const { shop } = await openShop({
    app: `document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(code)});
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(${JSON.stringify(css)});
      document.adoptedStyleSheets = [sheet];`,
  });
  const { page, complaints } = await openPage(browser);
  await shop.visit(page);
  await page
    .frameLocator('iframe')
    .getByRole('button', { name: 'Pay with a wallet in a new window' })
    .waitFor();
  const button = page.getByRole('button', { name: 'Buy tea' });
  const inside = `document.querySelector('florin-button').shadowRoot.querySelector('button')`;
  await isTrueIn(page, `getComputedStyle(${inside}).backgroundColor === 'rgb(122, 31, 61)'`);
  const [popup] = await Promise.all([page.context().waitForEvent('page'), button.click()]);
  await popup.waitForURL((url) => url.pathname === `/link/${linkId}`);
  assert.deepEqual(complaints.errors, []);
  await Promise.all([popup.close(), page.close()]);
});

test('the scripts that the guide prints ask the shop for a session, and go to its order once that is paid', async () => {
  const scripts = await printedBlocks('js');
  const { shop } = await openShop({
    app: ["document.body.append(document.createElement('florin-button'));", ...scripts].join('\n'),
  });
  const { page, complaints } = await openPage(browser);
  await shop.visit(page);
  const button = page.getByRole('button', { name: 'Pay' });
  const [popup] = await Promise.all([page.context().waitForEvent('page'), button.click()]);
  await popup.waitForURL(/\/checkout\/sess_/);
  await payIn(popup);
  await page.waitForURL(
    (url) => url.pathname === '/orders' && url.search === `?session=${sessionIdOf(popup)}`,
  );
  assert.deepEqual(complaints.errors, []);
  await Promise.all([popup.close(), page.close()]);
});

test('the component that the guide prints sells, and shows the state of its payment', async () => {
  const [component = '', hook = ''] = await printedBlocks('tsx');
  const { paymentUrl } = await openShop();
  const earlier = /sess_\w+/.exec(paymentUrl)?.[0];
  const { outputFiles } = await build({
    stdin: {
      contents: `import { createRoot } from 'react-dom/client';
        const createSession = async () => (await fetch('/buy', { method: 'POST' })).text();
        ${component}
        function Progress({ sessionId }) {
          ${hook}
          return <output>{status}</output>;
        }
        createRoot(document.body.appendChild(document.createElement('main'))).render(<>
          <Buy />
          <FlorinProvider origin="${life.options.origin}"><Progress sessionId="${earlier}" /></FlorinProvider>
        </>);`,
      loader: 'tsx',
      resolveDir: fileURLToPath(new URL('../../../../packages/react/src', import.meta.url)),
    },
    ...{ bundle: true, write: false, format: 'esm', jsx: 'automatic', conditions: ['source'] },
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const { shop } = await openShop({ app: outputFiles[0]?.text ?? '' });
  const { page, complaints } = await openPage(browser);
  await shop.visit(page);
  const button = page.getByRole('button', { name: 'Buy tea' });
  const [popup] = await Promise.all([page.context().waitForEvent('page'), button.click()]);
  await popup.waitForURL(/\/checkout\/sess_/);
  await payIn(popup);
  await page.locator('main p').getByText('paid').waitFor();
  await page.locator('output').getByText('open').waitFor();
  assert.deepEqual(complaints.errors, []);
  await Promise.all([popup.close(), page.close()]);
});

test('a shop in React has the same button, and shows the news of its payment', async () => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../../../packages/react/src/shop.fixture.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    define: {
      SERVICE_ORIGIN: JSON.stringify(life.options.origin),
      'process.env.NODE_ENV': '"production"',
    },
  });
  const { shop } = await openShop({ app: outputFiles[0]?.text ?? '' });
  const { page, complaints } = await openPage(browser);
  await shop.visit(page);
  const news = page.locator('output');
  assert.equal(await news.textContent(), 'none');
  const [popup] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('button', { name: 'Buy tea' }).click(),
  ]);
  await popup.waitForURL(/\/checkout\/sess_/);
  await payIn(popup);
  await news.getByText(`paid ${sessionIdOf(popup)}`).waitFor();
  await page.locator('aside').getByText('{"status":"paid"').waitFor();
  await popup.close();
  assert.deepEqual(complaints.errors, []);
  await page.close();
});
