import { after, before } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { Life } from '../life/life.ts';
import { openChromium, openPage } from './chromium.ts';
import { TestWallet } from './test-wallet.ts';

export let life: Life;
let browser: Browser;

/** Gives the tests of a file one browser and one small world. */
export function useWalletVisits(): void {
  before(async () => {
    browser = await openChromium();
    life = await Life.start();
    life.mine();
  });
  after(async () => {
    await browser.close();
    await life.close();
  });
}

interface Visit {
  readonly page: Page;
  readonly wallet: TestWallet;
}

/** A visitor on the page of a link for 25 dollars, with a connected wallet that has 30 of one token on Ethereum. */
export async function visit(
  token: 'usdc' | 'usdt',
  prepare: (wallet: TestWallet) => void = () => undefined,
): Promise<Visit> {
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
  const wallet = new TestWallet([life.ethereum, life.base]);
  await wallet.fund(life.ethereum, life.ethereum.token(token), 30_000_000n);
  prepare(wallet);
  const { page } = await openPage(browser);
  await wallet.inject(page);
  await page.goto(linkUrl);
  await page.getByRole('button', { name: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USD').waitFor();
  return { page, wallet };
}

export const pay = (page: Page) => page.locator('#pay-button').click();
export const paid = (page: Page) => page.locator('[data-status=completed]').waitFor();
export const says = (page: Page, text: string) => page.locator('#problem').getByText(text).waitFor();
export const sends = ({ asked }: TestWallet) => asked.filter((method) => /send|sign/i.test(method));
