import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openChromium, openPage } from './chromium.ts';
import { isTooWide } from './page-looks.ts';
import { connect } from './page-state.ts';
import { injectStub, PageWorld } from './page-world.ts';
import { readCode } from './read-code.ts';

/** What a payer sees of a page beside its words. */

let world: PageWorld;
let browser: Browser;

before(async () => {
  browser = await openChromium();
  world = await PageWorld.open();
});
after(async () => {
  await browser.close();
  await world.close();
});

/** Counts the drawings of a sign on a page, from its first moment on. */
const countDrawings = `globalThis.drawings = [];
  addEventListener('animationstart', ({ animationName, target }) => {
    if (animationName === 'draw') globalThis.drawings.push(target.closest('.emblem').id);
  });`;
const drawings = (page: Page) => page.evaluate('globalThis.drawings') as Promise<string[]>;

test('the check of a payment is drawn once, when it becomes final, and never for readers who want less motion', async () => {
  for (const reducedMotion of ['no-preference', 'reduce'] as const) {
    const linkId = await world.addLink({ autoReturn: 'never' });
    const { path, sessionId } = await world.addPaid(linkId, { isFinal: false });
    const { page } = await openPage(browser);
    await page.emulateMedia({ reducedMotion });
    await page.addInitScript(countDrawings);
    await world.visit(page, path);
    await page.locator('.wait .emblem').waitFor();
    for (const status of ['settling', 'completed'] as const) {
      await world.putStatus(sessionId, status);
      await page.locator(`[data-status=${status}] .emblem`).waitFor();
    }
    await page.evaluate('Promise.all(document.getAnimations().map(({ finished }) => finished))');
    const drawn = (await drawings(page)).filter((id) => id === 'emblem-good');
    assert.deepEqual(drawn, reducedMotion === 'reduce' ? [] : ['emblem-good']);
    await page.close();
  }
});

test('a printed receipt names every item, with the whole text of each', async () => {
  const description = 'Picked in spring, and dried in the shade. '.repeat(9).trim();
  const names = ['Sencha', 'Assam', 'Oolong', 'Matcha', 'Rooibos'];
  const lineItems = await Promise.all(
    names.map(async (name) => ({
      ...{ itemType: 'product', quantity: 1, unitPrice: 5_000_000 },
      productId: await world.addProduct({ name, description }),
    })),
  );
  const { path, sessionId } = await world.addPaid(await world.addLink({ lineItems }));
  await world.putStatus(sessionId, 'completed');
  const { page } = await openPage(browser);
  await world.visit(page, path);
  await page.locator('[data-status=completed]').waitFor();
  await page.emulateMedia({ media: 'print' });
  for (const name of names) await page.getByText(name, { exact: true }).waitFor();
  assert.equal(await page.getByText('Show 2 more').isVisible(), false);
  const cut = await page.evaluate(
    `[...document.querySelectorAll('.order bdi')].filter(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 1).length`,
  );
  assert.equal(cut, 0);
  // A4 at 96 dots per inch.
  await page.setViewportSize({ width: 794, height: 1123 });
  assert.equal(await isTooWide(page), false);
  await page.close();
});

test('paper has light colours for readers of dark pages, also those of a merchant', async () => {
  await world.brand({ color: '#7a1fa2' });
  const { path, sessionId } = await world.addPaid(await world.addLink());
  await world.putStatus(sessionId, 'completed');
  const { page } = await openPage(browser, { dark: true });
  await world.visit(page, path);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const tints = await page.evaluate(
    `['.success', '.state'].map((selector) => getComputedStyle(document.querySelector(selector)))
      .map(({ backgroundColor, color }) => [backgroundColor, color])`,
  );
  assert.deepEqual(tints, [
    ['rgb(238, 240, 239)', 'rgb(0, 0, 0)'],
    ['rgba(0, 0, 0, 0)', 'rgb(11, 107, 77)'],
  ]);
  assert.equal(await page.locator('.emblem, .middle').filter({ visible: true }).count(), 0);
  await page.close();
  await world.brand();
});

test('result, amount, way on and the acts of the receipt are in view on a desktop, also where money went back', async () => {
  for (const returned of [[], ['overpaid', 'late']] as const) {
    const { path, sessionId } = await world.addPaid(await world.addLink());
    for (const kind of returned) await world.putException(sessionId, kind, 'resolved');
    await world.putStatus(sessionId, 'completed');
    const { page } = await openPage(browser);
    await page.setViewportSize({ width: 1280, height: 800 });
    await world.visit(page, path);
    await page.locator('[data-status=completed]').waitFor();
    for (const id of ['#you-paid', '#continue', '#print', '#download']) {
      const box = await page.locator(id).boundingBox();
      assert.ok(box !== null && box.y >= 0 && box.y + box.height <= 800, `${id} with ${returned}`);
    }
    await page.close();
  }
});

test('a payer with a connected wallet who sends from elsewhere reads the amount to send, not what the wallet has', async () => {
  const { page } = await openPage(browser, { phone: true });
  await injectStub(page);
  await world.visit(page, `/link/${await world.addLink()}`);
  await connect(page);
  await page.locator('#way').getByText('You have 100.00 USDC').waitFor();
  await page.locator('#by-address').check();
  await page.locator('#way').getByText('25.05 USDC', { exact: true }).waitFor();
  await page.locator('#change-way').click();
  assert.equal(await page.getByText('You have').count(), 0);
  await page.close();
});

test('a wallet that has too little is told so in view, also below three items on a phone', async () => {
  const lineItems = await Promise.all(
    ['Sencha', 'Assam', 'Oolong'].map(async (name) => ({
      ...{ itemType: 'product', quantity: 1, unitPrice: 100_000_000 },
      productId: await world.addProduct({ name }),
    })),
  );
  const { page } = await openPage(browser, { phone: true });
  await injectStub(page);
  await world.visit(page, `/link/${await world.addLink({ lineItems })}`);
  await connect(page);
  await page.locator('#lack').getByText('You need').waitFor();
  for (const id of ['#lack', '#pay-button']) {
    const box = await page.locator(id).boundingBox();
    const height = page.viewportSize()?.height ?? 0;
    assert.ok(box !== null && box.y >= 0 && box.y + box.height <= height, id);
  }
  await page.close();
});

test('the stages of a payment that the page sent go on to the end, while a block and then the chain confirm it', async () => {
  const { path, sessionId } = await world.begin(await world.addLink({ autoReturn: 'never' }));
  const { page } = await openPage(browser);
  await page.addInitScript(
    `sessionStorage.setItem('florin-sent-${sessionId}', JSON.stringify({ at: Date.now(), network: 'Ethereum' }))`,
  );
  await world.visit(page, path);
  const present = page.locator('.stages [aria-current=step]');
  await page.locator('#step').getByText('Waiting for Ethereum').waitFor();
  await world.pay(sessionId, { isFinal: false });
  await present.getByText('Confirming').waitFor();
  await world.putStatus(sessionId, 'completed');
  await present.getByText('Done').waitFor();
  const dots = () => page.locator('.stages .dot').allTextContents();
  assert.deepEqual((await dots()).slice(2), ['✓', '✓', '✓']);
  await page.reload();
  await present.getByText('Done').waitFor();
  assert.deepEqual((await dots()).slice(2), ['✓', '✓', '✓']);
  await page.close();
});

test('the code for another device leads to this session, and the language can change without its secret being lost', async () => {
  const { path, sessionId } = await world.begin(await world.addLink());
  const { page } = await openPage(browser);
  await world.visit(page, path);
  const code = page.locator('#page-code');
  await code.waitFor();
  assert.equal(await readCode(code), `${world.world.deps.origin}/checkout/${sessionId}`);
  await page.locator('.lang summary').click();
  await page.locator('.lang').getByText('Deutsch').click();
  await page.locator('html[lang^=de].live.own').waitFor();
  assert.equal(new URL(page.url()).hash, `#${path.split('#')[1]}`);
  await page.close();
});

test('a page has its merchant’s icon, the logo for the reader’s colours, and links to all of the merchant’s pages', async () => {
  const shop = 'https://shop.example/';
  const urls = {
    supportUrl: `${shop}s`,
    termsUrl: `${shop}t`,
    refundUrl: `${shop}r`,
    privacyUrl: `${shop}p`,
  };
  const linkId = await world.addLink();
  const open = async (dark: boolean) => {
    const { page } = await openPage(browser, { dark });
    await world.visit(page, `/link/${linkId}`);
    return page;
  };
  const shownIn = (page: Page, selector: string) =>
    page.evaluate(`document.querySelector('${selector}').currentSrc`) as Promise<string>;
  await world.brand(urls, { logo: 'L', darkLogo: 'W', icon: 'P' });
  for (const dark of [false, true]) {
    const page = await open(dark);
    await page.waitForFunction(`document.querySelector('.logo')?.naturalWidth > 0`);
    assert.match(await shownIn(page, '.logo'), dark ? /W{22}/ : /L{22}/);
    assert.match((await page.locator('link[rel=icon]').getAttribute('href')) ?? '', /P{22}/);
    const links = await page.evaluate(
      `[...document.querySelectorAll('.foot a')].map(({ href, textContent }) => [textContent, href])`,
    );
    assert.deepEqual(links, [
      ['Support', urls.supportUrl],
      ['Terms', urls.termsUrl],
      ['Refunds', urls.refundUrl],
      ['Privacy', urls.privacyUrl],
    ]);
    await page.close();
  }
  // An icon stands where no logo is, and is square whatever its picture is. A logo of which nothing is seen takes no more room.
  for (const [letters, selector] of [
    [{ icon: 'T' }, '.brand-icon'],
    [{ logo: 'N' }, '.logo'],
  ] as const) {
    await world.brand(urls, letters);
    const page = await open(false);
    await page.waitForFunction(`document.querySelector('${selector}')?.naturalWidth > 0`);
    const { width = 0, height = 0 } = (await page.locator(selector).boundingBox()) ?? {};
    assert.deepEqual([height, width <= 128], [40, true], selector);
    if (selector === '.brand-icon') assert.equal(width, 40);
    await page.close();
  }
  await world.brand();
});

test('a payer goes on to the shop as soon as a block has the payment, the shop hears how far it is, and a page may stay', async () => {
  const productId = await world.addProduct();
  const { data } = await world.world.send('POST', '/session/checkout/create', {
    key: world.key,
    body: {
      ...{ accountId: world.accountId, settlementToken: 'ethereum::usdc', autoReturn: 'never' },
      lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 5_000_000 }],
      successUrl: 'https://shop.example/thanks?order=7',
      customSuccessText: 'Order 7 leaves <b>today</b>.',
    },
  });
  const { pathname, hash } = new URL(data.paymentUrl);
  const { page } = await openPage(browser);
  await world.visit(page, pathname + hash);
  await world.pay(data.sessionId, { isFinal: false });
  const next = page.locator('#continue');
  await next.waitFor();
  const shop = 'https://shop.example/thanks?order=7&florin_status=';
  assert.equal(await next.getAttribute('href'), `${shop}processing`);
  await world.putStatus(data.sessionId, 'completed');
  await page.locator('[data-status=completed]').waitFor();
  assert.equal(await next.getAttribute('href'), `${shop}paid`);
  await page.getByText('Order 7 leaves <b>today</b>.').waitFor();
  // Only the choice of the shop keeps the page here: others go back in a moment.
  assert.deepEqual([await page.locator('.leave').count(), await page.locator('body.leaves').count()], [0, 0]);
  await page.close();
});

test('an expired page leads back to the shop, and says that it has expired', async () => {
  const { path, sessionId } = await world.begin(
    await world.addLink({ cancelUrl: 'https://shop.example/cart?s={SESSION_ID}' }),
  );
  await world.putStatus(sessionId, 'expired');
  const { page } = await openPage(browser);
  await world.visit(page, path);
  assert.equal(
    await page.locator('#go-back').getAttribute('href'),
    `https://shop.example/cart?s=${sessionId}&florin_status=expired`,
  );
  await page.close();
});

test('what a payer copies is whole: codes of the receipt, the deposit address, and the amount as an exchange reads it', async () => {
  const keepCopied = `navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }`;
  const copied = (page: Page) => page.evaluate('globalThis.copied');
  const paid = await world.addPaid(await world.addLink());
  await world.putStatus(paid.sessionId, 'completed');
  const { page } = await openPage(browser);
  await page.addInitScript(keepCopied);
  await world.visit(page, paid.path);
  await page.locator('[data-status=completed]').waitFor();
  for (const name of ['Payment transaction', 'Settlement transaction', 'Reference']) {
    const button = page.getByRole('button', { name: `Copy: ${name}` });
    const line = page.locator('.receipt .code-line', { has: button });
    // The first event renders the receipt once more, without the mark.
    do await button.click();
    while ((await line.locator('.copied').count()) === 0);
    const whole = await line.locator('.whole').textContent();
    assert.equal(await copied(page), whole);
    assert.match(whole ?? '', /^(0x[0-9a-f]{64}|sess_\w{22})$/, name);
  }
  const open = await world.begin(await world.addLink());
  await world.visit(page, open.path);
  await page.locator('#by-address').check();
  await page.locator('#refund-input').fill(`0x${'d4'.repeat(20)}`);
  await page.locator('#show-deposit').click();
  // The event of the address renders the panel once more, without "Copied".
  await page.locator('#copy-amount').click();
  await page.waitForFunction(`globalThis.copied === '25.05'`);
  await page.locator('#copy-address').click();
  await page.waitForFunction(`globalThis.copied === document.querySelector('#deposit-address').textContent`);
  await page.close();
});
