import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Wallet } from 'ethers';
import type { Locator } from 'playwright-core';
import { findMerchant, renameMerchant } from '#merchants/merchant.ts';
import { openPage } from './chromium.ts';
import { TestWallet } from './test-wallet.ts';
import { ada, browser, dashboard, dollar, life, signedIn, token, useMembers, visit } from './two-members.ts';

useMembers();

/** After a conflict a person sees both, is asked before what was typed is lost, and keeps it. */
async function keepTyped(form: Locator, isDialog: boolean): Promise<void> {
  await form.getByText('typed: White tea').waitFor();
  if (isDialog) {
    await ada.keyboard.press('Escape');
    await ada.getByRole('button', { name: 'Keep editing' }).click();
  }
  await form.getByRole('button', { name: 'Keep what I typed' }).click();
}

test('what another member changed meanwhile is not overwritten, and a lost connection keeps what was typed', async () => {
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'Black tea',
    commonPrices: [10 * dollar],
  });
  const link = {
    ...{ linkType: 'fixed', linkName: 'Tea time', accountId: life.accountId, feeModel: 1 },
    settlementToken: token().tokenId,
    lineItems: [{ itemType: 'product', productId, unitPrice: 10 * dollar }],
  };
  const { linkId } = await life.post<{ linkId: string }>('/payment/link/create', link);
  const hook = {
    ...{ webhookName: 'Shop server', webhookUrl: 'https://shop.invalid/florin' },
    subscribedEvents: ['webhook.test'],
  };
  const { webhookId } = await life.post<{ webhookId: string }>('/webhook/create', hook);
  const { db } = life.database;
  const changes = [
    {
      path: `products/${productId}`,
      opens: '',
      name: 'Name',
      now: 'This product was changed meanwhile',
      change: () => life.post('/product/update', { productId, name: 'Red tea', commonPrices: [9 * dollar] }),
    },
    {
      path: `links/${linkId}`,
      opens: 'Edit',
      name: 'Name',
      now: 'This link was changed meanwhile',
      change: () => life.post('/payment/link/update', { ...link, linkId, linkName: 'Tea again' }),
    },
    {
      path: `webhooks/${webhookId}`,
      opens: 'Edit',
      name: 'Name',
      now: 'This webhook was changed meanwhile',
      change: () => life.post('/webhook/update', { ...hook, webhookId, webhookName: 'Till' }),
    },
    {
      path: 'settings',
      opens: 'Change the name',
      name: 'Name',
      now: 'The name was changed meanwhile',
      change: () =>
        db.transaction((transaction) =>
          renameMerchant(transaction, { merchantId: life.merchantId, merchantName: 'Tea House' }),
        ),
    },
    {
      path: 'branding',
      opens: undefined,
      name: /^Legal name/,
      now: 'The branding was changed meanwhile',
      change: () => life.post('/branding/update', { legalName: 'Tea House GmbH' }),
    },
  ];
  for (const { path, opens, name, now, change } of changes) {
    await visit(ada, path);
    const dialog = opens === undefined ? ada.getByRole('main') : ada.getByRole('dialog');
    if (opens) await ada.getByRole('button', { name: opens }).click();
    await dialog.getByLabel(name, { exact: true }).fill('White tea');
    await change();
    await ada.context().setOffline(true);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('No connection to the service').waitFor();
    await ada.context().setOffline(false);
    await dialog.getByRole('button', { name: 'Save' }).dblclick();
    await dialog.getByText(now).waitFor();
    assert.equal(await dialog.getByLabel(name, { exact: true }).inputValue(), 'White tea');
    if (path !== 'settings') await keepTyped(dialog, opens !== undefined);
    // The price was not typed: the form takes the new one.
    if (path.startsWith('products')) assert.equal(await dialog.getByLabel('Price 1').inputValue(), '9.00');
    if (!path.startsWith('webhooks')) continue;
    await dialog.getByRole('button', { name: 'Save' }).click();
    await ada.getByText('Webhook changed').first().waitFor();
  }
  const [product] = await life.post<{ name: string }[]>('/product/list/by/ids', { productIds: [productId] });
  const { linkName } = await life.get<{ linkName: string }>(`/payment/link/${linkId}`);
  const { webhookName } = await life.get<{ webhookName: string }>(`/webhook/detail/${webhookId}`);
  const { merchantName = '' } = (await findMerchant(db, life.merchantId)) ?? {};
  const { legalName } = await life.get<{ legalName: string }>('/branding/detail');
  assert.deepEqual(
    [product?.name, linkName, webhookName, merchantName, legalName],
    ['Red tea', 'Tea again', 'White tea', 'Tea House', 'Tea House GmbH'],
  );
});

test('a smart account signs its owner in, and no other key signs for it', async () => {
  const key = new Wallet(Wallet.createRandom().privateKey);
  const account = await life.ethereum.deploy('LocalSmartWallet', [key.address]);
  const page = await signedIn('Sam', new TestWallet([life.ethereum], { wallet: key, account }), 'viewer');
  await page.goto(`${dashboard}/my-account`);
  await page.getByRole('button', { name: 'Add a wallet' }).click();
  await page.getByText('The wallet was added').first().waitFor();
  await page.context().clearCookies();
  const stranger = await openPage(browser, { isApart: true });
  await new TestWallet([life.ethereum], { account }).inject(stranger.page);
  for (const visitor of [stranger.page, page]) {
    await visitor.goto(dashboard);
    await visitor.getByRole('button', { name: 'Use an Ethereum wallet' }).click();
  }
  await stranger.page.getByText('the wallet is not yours').waitFor();
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  await Promise.all([page.context().close(), stranger.page.context().close()]);
});
