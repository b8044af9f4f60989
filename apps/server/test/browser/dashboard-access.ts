import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operator } from '#members/audit.ts';
import { recoverByOperator } from '#members/recovery.ts';
import { suspendMerchant } from '#merchants/suspension.ts';
import { password, walletDelayMs } from '../harness/dashboard-world.ts';
import { openPage } from './chromium.ts';
import {
  assertClean,
  browser,
  dashboard,
  faultsOf,
  merchantId,
  owner,
  signIn,
  world,
} from './dashboard-stage.ts';

test('a suspended business says so on every screen, until the operator ends the suspension', async () => {
  const { page } = owner;
  const { database, clock } = world.merchants;
  const suspend = (isSuspended: boolean) =>
    database.db.transaction((transaction) =>
      suspendMerchant(transaction, { clock }, { merchantId, isSuspended }),
    );
  const banner = page.getByText('The operator suspended this business');
  await suspend(true);
  for (const screen of ['links', 'payments']) {
    await page.goto(`${dashboard}/${merchantId}/${screen}`);
    await banner.waitFor();
  }
  await assertClean(page);
  await suspend(false);
  await page.goto(`${dashboard}/${merchantId}/links`);
  await page.getByRole('heading', { name: 'Links' }).waitFor();
  assert.equal(await banner.count(), 0);
});

test('the keyboard finds a screen, and a session that ended is opened again above what was typed', async () => {
  const { page, complaints } = owner;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${dashboard}/${merchantId}`);
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('key');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${dashboard}/${merchantId}/keys`);
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByLabel('Largest session').fill('99');
  await page.context().clearCookies();
  await page.getByRole('button', { name: 'Create the key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  await dialog.getByLabel('Password', { exact: true }).fill(password);
  await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
  assert.match(await page.getByRole('textbox', { name: 'API key' }).inputValue(), /^rk_live_/);
  assert.deepEqual(faultsOf(complaints), []);
});

test('who signs in above the form of another person does not do what waits there', async () => {
  const { page, complaints, email } = owner;
  const colleague = await world.addPerson([[merchantId, 'admin']]);
  await page.goto(`${dashboard}/${merchantId}/keys`);
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByLabel('Largest session').fill('98');
  const dialog = page.getByRole('dialog', { name: 'Sign in again' });
  const create = page.getByRole('button', { name: 'Create the key' });
  for (const person of [colleague.email, email]) {
    await page.context().clearCookies();
    await create.click();
    await dialog.getByLabel('E-mail').fill(person);
    await dialog.getByLabel('Password', { exact: true }).fill(password);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText(`You are signed in as ${person}.`).first().waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'API key' }).count(), 0);
  }
  await create.click();
  await page.getByRole('textbox', { name: 'API key' }).waitFor();
  assert.deepEqual(faultsOf(complaints), []);
});

test('a person who lost every way to sign in opens the link of a recovery: it waits, works once, and the new password signs in', async () => {
  const { userId, email } = await world.addPerson([[merchantId, 'viewer']]);
  const deps = { ...world.options, recoveryDelayMs: walletDelayMs };
  const { token } = await world.merchants.database.db.transaction((transaction) =>
    recoverByOperator(transaction, deps, { userId, actor: operator }),
  );
  const newPassword = 'a password after the loss';
  const { page, complaints } = await openPage(browser, { isApart: true, phone: true });
  await page.goto(`${dashboard}/recovery`);
  await page.getByRole('heading', { name: 'This link is incomplete' }).waitFor();
  await page.goto('about:blank');
  await page.goto(`${dashboard}/recovery#${token}`);
  const typed = page.getByLabel('New password', { exact: true });
  await typed.fill(newPassword);
  await typed.press('Enter');
  await page.getByText(/^The link works from \d{4}-/).waitFor();
  await assertClean(page);

  world.merchants.clock.time += walletDelayMs;
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByRole('heading', { name: 'Keep your new recovery codes' }).waitFor();
  const codes = page.locator('ol li');
  const rows = await codes.evaluateAll((all) =>
    all.map((code) => ({ top: code.offsetTop, isOneLine: code.getClientRects()[0].height < 30 })),
  );
  assert.equal(new Set(rows.map(({ top }) => top)).size, 10);
  assert.ok(rows.every(({ isOneLine }) => isOneLine));
  await assertClean(page);
  await page.getByLabel('I have kept the codes').check();
  await page.getByRole('button', { name: 'Continue' }).click();
  assert.equal(await page.getByLabel('E-mail').inputValue(), email);
  await signIn(page, email, newPassword);
  await page.waitForURL(`${dashboard}/my-account`);

  await page.goto('about:blank');
  await page.goto(`${dashboard}/recovery#${token}`);
  await typed.fill(newPassword);
  await typed.press('Enter');
  await page.getByText('The link is unknown, used, cancelled or too old.').waitFor();
  assert.deepEqual(faultsOf(complaints), []);
  await page.context().close();
});
