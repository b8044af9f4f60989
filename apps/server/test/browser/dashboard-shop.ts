import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { findExceptionPolicy } from '#links/link-lookup.ts';
import { password } from '../harness/dashboard-world.ts';
import { sampleImage } from '../harness/sample-image.ts';
import { openPage } from './chromium.ts';
import {
  assertClean,
  browser,
  dashboard,
  faultsOf,
  findingsInBoth,
  insertBounce,
  merchantId,
  owner,
  proveIfAsked,
  signIn,
  world,
} from './dashboard-stage.ts';

test('screens have no findings of axe and no sideways scroll, in light and dark, on a phone', async () => {
  const { page, email } = owner;
  const { database, clock } = world.merchants;
  await database.db.query(insertBounce, { address: email, at: clock.now() });
  await page.setViewportSize({ width: 390, height: 844 });
  const screens = [
    `/${merchantId}`,
    ...[
      'links',
      'products',
      'branding',
      'wallets',
      'webhooks',
      'events',
      'team',
      'keys',
      'reports',
      'reports?month=days',
      'audit',
      'settings',
    ].map((path) => `/${merchantId}/${path}`),
    '/my-account',
  ];
  const found: string[] = [];
  for (const path of screens) {
    await page.goto(dashboard + path);
    found.push(...(await findingsInBoth(page)));
  }
  assert.deepEqual(found, []);
});

test('a member whose e-mails came back lets them come again, and chooses the weekly summary', async () => {
  const { page } = owner;
  await page.goto(`${dashboard}/${merchantId}/team`);
  await page.getByText('E-mails come back').waitFor();
  await page.goto(`${dashboard}/my-account`);
  await page.getByText('550 5.1.1 no such mailbox').waitFor();
  await page.getByRole('button', { name: 'Send them again' }).click();
  await page.getByText('Your e-mails came back').waitFor({ state: 'detached' });
  const choice = page.getByLabel('Weekly summary');
  await choice.check();
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.reload();
  await choice.waitFor();
  assert.equal(await choice.isChecked(), true);
});

test('the preview of the payment page follows the look, which is saved', async () => {
  const { page } = owner;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${dashboard}/${merchantId}/branding`);
  // A change makes a new frame, whose address has it.
  const preview = (part: string) =>
    page.frameLocator(`iframe[title="Preview of the hosted page"][src*="${part}"]`);
  const colors = async (part: string) => {
    const css = (await preview(part).locator('style').textContent()) ?? '';
    // The last rule wins.
    return ['accent', 'link'].map(
      (name) => [...css.matchAll(new RegExp(`--${name}: (#[0-9a-f]{6})`, 'g'))].at(-1)?.[1],
    );
  };
  await preview('light').getByText('Stoneware mug').waitFor();
  const color = page.getByRole('textbox', { name: /^Colour/ });
  await color.fill('no colour');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Write # and six digits').waitFor();
  await color.fill('#7a1fa2');
  assert.deepEqual(await colors('7a1fa2'), ['#7a1fa2', '#7a1fa2']);
  await page.getByRole('button', { name: 'Dark', exact: true }).click();
  // Buttons keep the colour; links would be hard to read in it.
  assert.deepEqual(await colors('dark'), ['#7a1fa2', '#b37fca']);
  await page.getByLabel('Legal name').fill('Stoneware & Sons Ltd');
  await page.getByLabel('Corners').fill('4');
  await page.getByRole('textbox', { name: /^Terms/ }).fill('https://shop.example/terms');
  await preview('Stoneware%20%26%20Sons').getByText('Stoneware & Sons Ltd').waitFor();
  await preview('shop.example').getByText('Terms').waitFor();
  // Another name and a new place for payers want a fresh proof, above what was typed.
  world.merchants.clock.time += 6 * 60_000;
  await page.getByRole('button', { name: 'Save' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByRole('textbox', { name: 'Password' }).fill(password);
  await proof.getByRole('button', { name: 'Confirm' }).click();
  await page.getByText('Branding saved', { exact: true }).waitFor();
  await assertClean(page);
  await page.reload();
  assert.equal(await color.inputValue(), '#7a1fa2');
  assert.equal(await page.getByLabel('Legal name').inputValue(), 'Stoneware & Sons Ltd');
  assert.equal(await page.getByLabel('Corners').inputValue(), '4');
  await preview('7a1fa2').getByText('Stoneware mug').waitFor();
});

/** The picture takes its time: what is typed meanwhile stays, and nothing is created without it. */
async function uploadSlowly(page: Page, choose: () => Promise<void>): Promise<void> {
  const uploads = '**/dashboard/api/image/upload';
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route(uploads, async (route) => {
    await released;
    await route.continue();
  });
  await choose();
  const waiting = page.getByRole('button', { name: 'Uploading the picture…' });
  await waiting.waitFor();
  assert.equal(await waiting.isDisabled(), true);
  const description = page.getByLabel('Description');
  await description.fill('Holds a litre');
  release();
  await page.getByRole('button', { name: 'Upload another' }).waitFor();
  await page.unroute(uploads);
  assert.equal(await description.inputValue(), 'Holds a litre');
  await description.fill('');
}

test('a product gets an uploaded picture, and the link that sells it is previewed while it is made', async () => {
  const { page } = owner;
  await world.merchants.addAccount(merchantId);
  await page.goto(`${dashboard}/${merchantId}/products`);
  await page.getByRole('button', { name: 'Create a product' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Teapot');
  await page.getByLabel('Price 1').fill('30.125');
  await page.getByText('30.125 can mean two amounts').waitFor();
  await page.getByLabel('Price 1').fill('30');
  await page.getByText('Saved as $30.00').waitFor();
  const choose = (name: string, buffer: Buffer) =>
    page.getByLabel('Image from this device').setInputFiles({ name, mimeType: 'image/png', buffer });
  await choose('notes.png', Buffer.from('no picture'));
  await page.getByText('Image cannot be used: not a jpeg, png or webp image.').waitFor();
  await uploadSlowly(page, async () => choose('teapot.png', await sampleImage('png', 40, 20)));
  await assertClean(page);
  await page.getByRole('button', { name: 'Create the product' }).click();
  await page.getByRole('cell', { name: 'Teapot', exact: true }).waitFor();
  await page.locator('td img').waitFor();
  assert.equal(
    await page.evaluate(
      "document.querySelector('td img').decode().then(() => document.querySelector('td img').naturalWidth)",
    ),
    40,
  );

  await page.getByRole('link', { name: 'Links' }).click();
  await page.getByRole('button', { name: 'Create a link' }).first().click();
  // Its first field has the focus, though the form comes after what it chooses from: Enter does not close it.
  await page.getByRole('radio', { name: 'A fixed price' }).waitFor();
  assert.equal(await page.evaluate('document.activeElement.type'), 'radio');
  // An untouched form makes no link.
  await page.getByRole('button', { name: 'Create the link' }).click();
  await page.getByText('Choose a product.').waitFor();
  await page.getByLabel('Product', { exact: true }).selectOption({ label: 'Teapot ($30.00)' });
  await page.getByLabel('You receive', { exact: true }).selectOption({ label: 'USDC on Base' });
  const preview = (part: string) =>
    page.frameLocator(`iframe[title="Preview of the hosted page"][src*="${encodeURIComponent(part)}"]`);
  await preview('"amount":"30000000"').getByText('Teapot').first().waitFor();
  await preview('"amount":"30000000"')
    .getByRole('region', { name: 'What you pay for' })
    .locator('img')
    .waitFor();
  await page.getByLabel('Quantity').fill('2');
  await preview('"amount":"60000000"').getByText('Teapot × 2').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Tea for two');
  await preview('Tea for two').getByText('Tea for two').waitFor();
  await assertClean(page);
  // Neither Escape nor Back discards what was typed without asking.
  const question = page.getByRole('dialog', { name: 'Discard your changes?' });
  for (const leave of [() => page.keyboard.press('Escape'), () => page.evaluate('history.back()')]) {
    await leave();
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await question.waitFor({ state: 'hidden' });
    assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Tea for two');
  }
  await page.getByLabel('Money that comes late').selectOption('accept');
  await page.getByLabel('Hours to accept it in').fill('x');
  await page.getByLabel('May be short by').fill('0.5');
  await page.getByRole('button', { name: 'Create the link' }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  assert.equal(await page.evaluate('document.activeElement.value'), 'x');
  await page.getByLabel('Hours to accept it in').fill('24');
  await page.getByRole('button', { name: 'Create the link' }).click();
  await page.getByRole('heading', { name: 'Tea for two' }).waitFor();
  const linkId = page.url().split('/').at(-1) ?? '';
  const policy = await findExceptionPolicy(world.merchants.database.db, linkId);
  assert.deepEqual(policy, { latePayment: 'accept', lateHours: 24, underpaidPpm: 5_000 });
  // Its name leads back to it, also with an accent that it does not have.
  await page.goto(`${dashboard}/${merchantId}`);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('téa for');
  await page.getByRole('option', { name: 'Tea for two' }).click();
  await page.waitForURL(`${dashboard}/${merchantId}/links/${linkId}`);
});

test('a link that two tabs edit keeps the first change, shows its versions, and is still known when it is deleted', async () => {
  const { page } = owner;
  const { clock } = world.merchants;
  const other = await page.context().newPage();
  await other.goto(page.url());
  const rename = async (tab: Page, name: string) => {
    await tab.getByRole('button', { name: 'Edit' }).click();
    await tab.getByLabel('Name', { exact: true }).fill(name);
  };
  await rename(other, 'Tea for nobody');
  // The time of a change has whole seconds.
  clock.time += 1_000;
  await rename(page, 'Tea for three');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Tea for three' }).waitFor();
  await other.getByRole('button', { name: 'Save' }).click();
  await other.getByText('This link was changed meanwhile.').waitFor();
  assert.equal(await other.getByLabel('Name', { exact: true }).inputValue(), 'Tea for nobody');
  // Both are shown, and nothing is saved before the person has chosen.
  await other.getByText('stored: Tea for three').waitFor();
  await other.getByText('typed: Tea for nobody').waitFor();
  await assertClean(other);
  await other.getByRole('button', { name: 'Take the stored one: Name' }).click();
  assert.equal(await other.getByLabel('Name', { exact: true }).inputValue(), 'Tea for three');
  await other.getByRole('button', { name: 'Go on' }).click();
  await other.getByRole('button', { name: 'Cancel' }).click();

  const version = page.getByRole('listitem').filter({ hasText: 'Now' });
  await version.getByText('before: − Tea for two').waitFor();
  await version.getByText('after: + Tea for three').waitFor();
  await assertClean(page);
  await page.getByRole('button', { name: 'More acts' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete for good' }).click();
  await page.getByRole('heading', { name: 'Links' }).waitFor();
  await other.reload();
  await other.getByText('This link is deleted').waitFor();
  await other.getByRole('heading', { name: 'Tea for three' }).waitFor();
  await assertClean(other);
  await other.close();
});

test('a view of payments that a member saves is there in their other browser', async () => {
  const { page, email } = owner;
  await page.goto(`${dashboard}/${merchantId}/payments?status=completed`);
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save these filters' }).click();
  await page.getByLabel('Name of the view').fill('Done');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('View “Done” saved').first().waitFor();
  const other = await openPage(browser, { isApart: true });
  await other.page.goto(`${dashboard}/${merchantId}/payments`);
  await signIn(other.page, email);
  await other.page.getByRole('button', { name: 'Views' }).click();
  await other.page.getByRole('menuitem', { name: 'Done', exact: true }).click();
  await other.page.waitForURL(/status=completed/);
  await other.page.getByRole('button', { name: 'Views' }).click();
  await other.page.getByRole('menuitem', { name: 'Forget Done' }).click();
  await other.page.getByText('View “Done” removed').first().waitFor();
  assert.deepEqual(faultsOf(other.complaints), []);
  await other.page.context().close();
});

test('an open page whose files an update removed says so, and is the new one after a press', async () => {
  const { email } = owner;
  const { page } = await openPage(browser, { isApart: true });
  await page.goto(`${dashboard}/${merchantId}/links`);
  await signIn(page, email);
  const act = page.getByRole('button', { name: 'Create a link' }).first();
  await act.waitFor();
  // As after an update: the file has another name, and the page another script.
  await page.route('**/assets/link-sheet-*.js', (route) => route.fulfill({ status: 404 }));
  const ofUpdate = '<!doctype html><script type="module" src="/dashboard/assets/index-new.js"></script>';
  const isFetch = (url: URL) => url.pathname.endsWith('/links');
  await page.route(isFetch, (route) =>
    route.request().resourceType() === 'fetch'
      ? route.fulfill({ contentType: 'text/html', body: ofUpdate })
      : route.continue(),
  );
  await act.click();
  await page.getByText('Florin was updated.').waitFor();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Reload', exact: true }).click();
  await act.click();
  await page.getByRole('dialog').waitFor();
  assert.equal(await page.getByText('Florin was updated.').count(), 0);
  await page.context().close();
});

test('a browser remembers which columns of a list its reader chose', async () => {
  const { page } = owner;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${dashboard}/${merchantId}/products`);
  const changed = page.getByRole('columnheader', { name: 'Changed' });
  await changed.waitFor();
  await page.getByRole('button', { name: 'Choose columns' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Changed', checked: true }).click();
  await changed.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await assertClean(page);
  await page.reload();
  await page.getByRole('columnheader', { name: 'Price' }).waitFor();
  assert.equal(await changed.count(), 0);
  await page.getByRole('button', { name: 'Choose columns' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Reset' }).press('Enter');
  await changed.waitFor();
  assert.equal(await page.evaluate("localStorage.getItem('florin.columns.products')"), null);
});

test('a filter is chosen by name, an address says what it cannot filter by, and the audit log is narrowed', async () => {
  const { page, email } = owner;
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${dashboard}/${merchantId}/payments?color=red&status=paidd&text=tea`);
  await page.getByText('color=red, status=paidd').waitFor();
  await assertClean(page);
  await page.getByRole('button', { name: 'Leave out' }).click();
  await page.waitForURL(/payments\?text=tea$/);
  await page.getByText('color=red').waitFor({ state: 'detached' });
  // Signs alone find nothing.
  await page.goto(`${dashboard}/${merchantId}/payments?text=%25%25%27%22--`);
  await page.getByText('Nothing matches').waitFor();
  await page.goto(`${dashboard}/${merchantId}/payments?text=tea`);
  await page.getByRole('button', { name: 'Filters', exact: true }).click();
  // What is neither a name nor an id is not sent, and a part of a name stands for it.
  await page.getByLabel('Product', { exact: true }).fill('SUM');
  await page.getByRole('button', { name: 'Show payments' }).click();
  await page.getByText('No name here has this.').waitFor();
  await page.getByLabel('Product', { exact: true }).fill('eapo');
  await page.getByRole('dialog').getByText('Teapot', { exact: true }).waitFor();
  await page.getByLabel('Payment link', { exact: true }).fill('lnk_other');
  await page.getByRole('button', { name: 'Show payments' }).click();
  await page.waitForURL(/productId=prd_/);
  assert.equal(new URL(page.url()).searchParams.get('linkId'), 'lnk_other');
  const chips = page.getByRole('list', { name: 'Filters in use' });
  await chips.getByText('Teapot').waitFor();
  await chips.getByText('lnk_other').waitFor();

  await page.goto(`${dashboard}/${merchantId}/audit?from=2026-02-31&act=zzz&action=zzz`);
  await page.getByText('from=2026-02-31, act=zzz, action=zzz').waitFor();
  await page.getByLabel('By', { exact: true }).selectOption({ label: email });
  await page.getByLabel('Act', { exact: true }).selectOption({ label: 'Created a product' });
  const rows = page.getByRole('table', { name: 'Audit log' }).getByRole('button');
  await page.waitForURL(/action=createProduct/);
  await page
    .getByText('Added a webhook', { exact: true })
    .filter({ visible: true })
    .waitFor({ state: 'detached' });
  assert.deepEqual(new Set(await rows.allInnerTexts()).size, 1);
  await rows.first().click();
  await page.getByRole('button', { name: 'All acts on this' }).click();
  await page.getByText('Only acts on').waitFor();
  await assertClean(page);
  await page.getByLabel('Act', { exact: true }).selectOption({ label: 'Invited a member' });
  await page.getByText('Nothing matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('button', { name: /^Invited a member/ }).waitFor();
});

test('an owner changes the name of the shop', async () => {
  const { page } = owner;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${dashboard}/${merchantId}/settings`);
  await page.getByRole('button', { name: 'Change the name' }).click();
  await assertClean(page);
  const name = page.getByRole('textbox', { name: 'Name' });
  await name.fill('  ');
  assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true);
  await name.fill('Tea & Co');
  await name.press('Enter');
  await proveIfAsked(page, page.getByText('The shop has a new name', { exact: true }));
  await page.getByRole('definition').getByText('Tea & Co').waitFor();
  await page.getByRole('button', { name: 'Tea & Co' }).first().waitFor();
});
