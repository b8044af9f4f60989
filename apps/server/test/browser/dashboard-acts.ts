import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { openShop, type Shop } from '../harness/shop.ts';
import { openPage } from './chromium.ts';
import { browser, dashboard, proveIfAsked, signIn, world } from './dashboard-stage.ts';

/** A shop with one thing of each kind, and its owner's window. */
let shop: Shop;
let at: string;
let page: Page;

async function openWindow(): Promise<void> {
  shop = await openShop(world.merchants);
  at = `${dashboard}/${shop.merchantId}`;
  const { email } = await world.addPerson([[shop.merchantId, 'owner']]);
  ({ page } = await openPage(browser, { isApart: true }));
  await page.goto(at);
  await signIn(page, email);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
}

/** The file that a button saves. */
async function saved(button: string): Promise<Buffer> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button, exact: true }).click(),
  ]);
  return readFileSync(await file.path());
}

test('a settlement wallet is renamed, gets a new address that waits and is cancelled, and is removed', async () => {
  await openWindow();
  await page.goto(`${at}/wallets/${shop.things.accountId}`);
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByLabel('Name', { exact: true }).fill('Till');
  await page.getByRole('button', { name: 'Save' }).click();
  await proveIfAsked(page, page.getByRole('heading', { name: 'Till' }));

  const address = `0x${randomBytes(20).toString('hex')}`;
  await page.getByRole('button', { name: 'New address' }).click();
  await page.getByLabel('Address', { exact: true }).fill(address);
  await page.getByRole('button', { name: 'Set the new address' }).click();
  await page.getByText('Sign the proof, or tick').waitFor();
  await page.getByLabel('Go on without a proof').check();
  await page.getByRole('button', { name: 'Set the new address' }).click();
  const waiting = page.getByText('A new address waits', { exact: true });
  await proveIfAsked(page, waiting);
  await page.getByRole('button', { name: 'Cancel it' }).click();
  await page.getByRole('button', { name: 'Cancel the change' }).click();
  await proveIfAsked(page, page.getByRole('button', { name: 'New address' }));
  assert.equal(await waiting.count(), 0);

  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  const question = page.getByRole('dialog', { name: 'Remove Till?' });
  await question.getByText('1 active link stops:').waitFor();
  await question.getByRole('button', { name: 'Remove', exact: true }).click();
  await proveIfAsked(page, page.getByText('The wallet was removed, and 1 payment link disabled'));
  await page.getByRole('heading', { name: 'Wallets' }).waitFor();
  await page
    .getByRole('table', { name: 'Wallets', exact: true })
    .getByRole('cell', { name: 'Till' })
    .waitFor({ state: 'detached' });
});

test('a member gets another role and is removed, and reads that the membership ended', async () => {
  const { email } = await world.addPerson([[shop.merchantId, 'viewer']]);
  const { page: theirs } = await openPage(browser, { isApart: true });
  await theirs.goto(at);
  await signIn(theirs, email);
  await theirs.getByRole('heading', { name: 'Home' }).waitFor();
  await page.goto(`${at}/team`);
  const row = page.getByRole('table', { name: 'Members' }).getByRole('row').filter({ hasText: email });
  const choose = async (act: string) => {
    await row.getByRole('button', { name: 'Acts for Sam' }).click();
    await page.getByRole('menuitem', { name: act }).click();
  };
  await choose('Change the role');
  await page.getByRole('radio', { name: 'Finance' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await proveIfAsked(page, row.getByText('Finance'));
  await choose('Remove');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await proveIfAsked(page, page.getByText('The member was removed'));
  await row.waitFor({ state: 'detached' });
  await theirs.reload();
  await theirs.getByRole('heading', { name: 'You are not a member of this shop' }).waitFor();
  await theirs.context().close();
});

test('what a disabled webhook missed is sent again: those since a time, one delivery, one event, and when it is enabled', async () => {
  await page.goto(`${at}/webhooks/${shop.things.webhookId}`);
  const choose = async (act: string) => {
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: act, exact: true }).click();
  };
  await choose('Disable');
  await page.getByRole('button', { name: 'Disable', exact: true }).click();
  await page.getByText('The webhook is disabled').first().waitFor();
  const delivery = page.getByRole('dialog', { name: 'webhook.test' });
  const miss = async () => {
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await delivery.getByText('It was not sent: the webhook was not active.').waitFor();
  };
  await miss();
  await delivery.getByRole('button', { name: 'Close' }).click();
  await choose('Send again since a time');
  await page.getByRole('button', { name: 'Send again', exact: true }).click();
  await page
    .getByText(/^\d+ deliver(y is|ies are) sent again$/)
    .first()
    .waitFor();
  await miss();
  await delivery.getByRole('button', { name: 'Send again' }).click();
  await delivery.getByText('It waits until you enable the webhook.').waitFor();
  await delivery.getByRole('button', { name: 'Close' }).click();
  await miss();
  await page.goto(`${at}/events`);
  await page.getByLabel('Type').selectOption({ label: 'webhook.test' });
  await page.waitForURL(/type=webhook.test/);
  const events = page.getByRole('table', { name: 'Events' });
  await events.getByText('refund.created').first().waitFor({ state: 'detached' });
  await events.getByRole('button').first().click();
  await page.getByRole('button', { name: 'Send to the webhooks again' }).click();
  await page.getByText('Sent again to one webhook').first().waitFor();
  await page.goto(`${at}/webhooks/${shop.things.webhookId}`);
  await choose('Enable');
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click();
  await page.getByText('The webhook is enabled').first().waitFor();
});

test('a product has a picture by its address, goes into the archive and comes back', async () => {
  await page.goto(`${at}/products`);
  await page.getByRole('button', { name: 'Create a product' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Kettle');
  await page.getByLabel('Price 1').fill('12');
  await page.getByRole('button', { name: 'Use an address' }).click();
  await page.getByLabel('Address of the picture').fill('https://shop.example.com/kettle.png');
  await page.getByRole('button', { name: 'Create the product' }).click();
  const row = page.getByRole('row').filter({ hasText: 'Kettle' });
  await row.getByText('Image on its way').waitFor();
  const choose = async (act: string) => {
    await row.getByRole('button', { name: 'Acts for Kettle' }).click();
    await page.getByRole('menuitem', { name: act }).click();
    await page.getByRole('dialog').getByRole('button', { name: act, exact: true }).click();
  };
  await choose('Archive');
  await row.waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Archived' }).click();
  await choose('Unarchive');
  await row.waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Active' }).click();
  await row.waitFor();
});

test('a link is shared by e-mail where the device has no way of its own, and its code is saved as SVG and PNG', async () => {
  await page.goto(`${at}/links/${shop.things.linkId}`);
  const address = await page.getByLabel('Address of the link').inputValue();
  const share = await page.getByRole('link', { name: 'Share' }).getAttribute('href');
  assert.ok(share?.startsWith('mailto:?subject=') && share.endsWith(`body=${encodeURIComponent(address)}`));
  assert.match((await saved('SVG')).toString(), /^<svg[^>]*>/);
  const png = await saved('PNG');
  assert.deepEqual(png.subarray(1, 4).toString(), 'PNG');
  // As large as a print of some centimetres needs.
  assert.ok(png.readUInt32BE(16) >= 500);
});

test('what the filters leave of the audit log is saved as CSV, and so is the log of one’s own account', async () => {
  await page.goto(`${at}/audit?action=archiveProduct`);
  await page.getByRole('button', { name: /^Archived a product/ }).waitFor();
  const lines = (await saved('Export as CSV')).toString().trim().split('\r\n');
  assert.match(lines[0] ?? '', /^"entryId","at",/);
  assert.deepEqual([lines.length, lines[1]?.includes('archiveProduct')], [2, true]);
  await page.goto(`${dashboard}/my-account?action=changePassword`);
  await page.getByText('Nothing matches').waitFor();
  const own = (await saved('Export as CSV')).toString().trim().split('\r\n');
  assert.equal(own.length, 1);
  await page.context().close();
});
