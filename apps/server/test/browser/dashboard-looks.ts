import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openShop, type Shop } from '../harness/shop.ts';
import { openPage } from './chromium.ts';
import { browser, dashboard, faultsOf, findingsInBoth, signIn, world } from './dashboard-stage.ts';
import { mostShift, sumShifts } from './layout-shift.ts';

const phone = { width: 390, height: 844 };
const large = { width: 1_920, height: 1_080 };

/** A shop with one thing of each kind, and its owner. */
let shop: Shop;
let at: string;
let email: string;

/** The owner's window, signed in, in a browser of the locale. */
async function openWindow(locale = 'en-US') {
  const opened = await openPage(browser, { isApart: true, locale });
  await opened.page.goto(at);
  await signIn(opened.page, email);
  await opened.page.getByRole('heading', { name: 'Home' }).waitFor();
  return opened;
}

test('pages of one thing, sheets and the search have no findings of axe and no sideways scroll, in light and dark, on a phone', async () => {
  shop = await openShop(world.merchants);
  at = `${dashboard}/${shop.merchantId}`;
  ({ email } = await world.addPerson([[shop.merchantId, 'owner']]));
  const { things } = shop;
  const { page, complaints } = await openPage(browser, { isApart: true });
  await page.setViewportSize(phone);
  await page.goto(at);
  const found = await findingsInBoth(page);
  await signIn(page, email);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  const paths = [
    ...['payments', `payments/${things.paidSessionId}`, `payments/${things.sessionId}`],
    ...['refunds', `refunds/${things.refundId}`, `refunds/${things.waitingRefundId}`],
    ...['exceptions', 'exceptions?tab=resolved', `exceptions?exception=${things.lateExceptionId}`],
    ...[`wallets/${things.accountId}`, `links/${things.linkId}`, `products/${things.productId}`],
    ...[`webhooks/${things.webhookId}`, `webhooks/${things.webhookId}?delivery=${things.deliveryId}`],
    ...[`events?event=${things.eventId}`, 'reports/statement'],
  ];
  for (const path of paths) {
    await page.goto(`${at}/${path}`);
    found.push(...(await findingsInBoth(page)));
  }
  const sheets: readonly (readonly [path: string, button: string])[] = [
    ['payments', 'Filters'],
    ['payments', 'Export'],
    [`wallets/${things.accountId}`, 'Change'],
    [`wallets/${things.accountId}`, 'New address'],
    [`wallets/${things.accountId}`, 'Remove'],
    [`links/${things.linkId}`, 'Edit'],
    ['keys', 'Create a key'],
    ['team', 'Invite a member'],
    ['webhooks', 'Add a webhook'],
  ];
  for (const [path, button] of sheets) {
    await page.goto(`${at}/${path}`);
    await page.getByRole('button', { name: button, exact: true }).first().click();
    await page.getByRole('dialog').waitFor();
    found.push(...(await findingsInBoth(page)));
  }
  await page.goto(at);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await page.keyboard.press('/');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('tea');
  await page.getByRole('option').first().waitFor();
  found.push(...(await findingsInBoth(page)));
  assert.deepEqual(found, []);
  assert.deepEqual(faultsOf(complaints), []);
  await page.context().close();
});

/** How far the main screens move while they load, each that moves too far. */
async function movingScreens(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const path of [
    '',
    'payments',
    `payments/${shop.things.paidSessionId}`,
    'links',
    'products',
    'reports',
  ]) {
    await page.goto(`${at}/${path}`);
    await page.waitForLoadState('networkidle');
    if (!(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')))
      found.push(`${path} scrolls sideways`);
    const shift = Number(await page.evaluate('globalThis.shifts'));
    if (shift >= mostShift) found.push(`${path} moves by ${shift}`);
  }
  return found;
}

test('the main screens hold still while they load, on a phone and on a large screen', async () => {
  const { page } = await openWindow();
  await page.addInitScript(sumShifts);
  const found: string[] = [];
  for (const size of [phone, large]) {
    await page.setViewportSize(size);
    found.push(...(await movingScreens(page)).map((text) => `${size.width}: ${text}`));
  }
  assert.deepEqual(found, []);
  await page.context().close();
});

test('a reader in German has German separators in every amount, and exact ones on hover', async () => {
  const { page } = await openWindow('de-DE');
  const paths = ['payments', `payments/${shop.things.paidSessionId}`, 'refunds', 'reports', 'links'];
  for (const path of ['', ...paths]) {
    await page.goto(`${at}/${path}`);
    // The network may be idle while the browser still draws what it read.
    await page
      .getByRole('main')
      .getByText(/\d,\d\d\s\$/)
      .filter({ visible: true })
      .first()
      .waitFor();
    await page.waitForLoadState('networkidle');
    const text = (await page.getByRole('main').allInnerTexts()).join();
    assert.deepEqual([path, text.match(/\$[ \u00a0]?\d[\d.,]*/g)], [path, null]);
    assert.match(text, /\d,\d\d\s\$/, path);
  }
  await page.goto(at);
  const sum = page.locator('[aria-live=polite] [title]').first();
  await sum.waitFor();
  assert.match((await sum.getAttribute('title')) ?? '', /^[\d.]+,\d{2,6}\s\$$/);
  await page.context().close();
});

test('the first page says when it could not read what may need attention, and reads it again', async () => {
  const { page } = await openWindow();
  const keys = '**/dashboard/api/key/list';
  await page.route(keys, (route) => route.fulfill({ body: 'no envelope' }));
  await page.reload();
  const notice = page.getByText('A part of what may need you could not be read.');
  await notice.waitFor();
  await page.unroute(keys);
  await page.getByRole('button', { name: 'Try again' }).click();
  await notice.waitFor({ state: 'detached' });
  await page.context().close();
});
