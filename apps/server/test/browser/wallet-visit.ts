import type { Page } from 'playwright-core';
import { type Complaints, openPage } from './chromium.ts';
import { browser, life } from './tea-shop.ts';
import { TestWallet } from './test-wallet.ts';
import { makePhone } from './wallet-app.ts';

interface Visit {
  readonly page: Page;
  readonly wallet: TestWallet;
}

/** The page of a new link for 25 dollars. */
async function addLink(token: 'usdc' | 'usdt'): Promise<string> {
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'Green tea',
    commonPrices: [25_000_000],
  });
  const { linkUrl } = await life.post<{ linkUrl: string }>('/payment/link/create', {
    linkType: 'fixed',
    linkName: 'Tea shop',
    accountId: life.accountId,
    settlementToken: `ethereum::${token}`,
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 25_000_000 }],
  });
  return linkUrl;
}

/** A visitor without a wallet in the browser, and a wallet with 30 USDC on another device. */
export async function visitWithout(options: { phone: boolean }): Promise<Visit & { complaints: Complaints }> {
  const wallet = new TestWallet([life.ethereum, life.base]);
  await wallet.fund(life.ethereum, life.ethereum.token('usdc'), 30_000_000n);
  const { page, complaints } = await openPage(browser, options);
  await wallet.inject(page, 'remote');
  if (options.phone) await makePhone(page);
  await page.goto(await addLink('usdc'));
  return { page, wallet, complaints };
}

/** A visitor on the page of a link for 25 dollars, with a connected wallet that has 30 of one token on Ethereum. */
export async function visit(
  token: 'usdc' | 'usdt',
  prepare: (wallet: TestWallet) => void = () => undefined,
): Promise<Visit> {
  const wallet = new TestWallet([life.ethereum, life.base]);
  await wallet.fund(life.ethereum, life.ethereum.token(token), 30_000_000n);
  prepare(wallet);
  const { page } = await openPage(browser);
  await wallet.inject(page);
  await page.goto(await addLink(token));
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USD').waitFor();
  return { page, wallet };
}

export const pay = (page: Page) => page.locator('#pay-button').click();
export const says = (page: Page, text: string) => page.locator('#problem').getByText(text).waitFor();
export const sends = ({ asked }: TestWallet) => asked.filter((method) => /send|sign/i.test(method));
