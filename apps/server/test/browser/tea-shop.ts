import { after, before } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { ServiceOptions } from '../../src/service/options.ts';
import { startService } from '../../src/service/service.ts';
import { Life } from '../life/life.ts';
import { openChromium, openPage } from './chromium.ts';
import type { Injection } from './ethers-wallet.ts';
import { TestWallet } from './test-wallet.ts';

export let life: Life;
export let browser: Browser;

/** Gives the tests of a file one browser and one small world, whose service has these options. */
export function useTeaShop(changes: Partial<ServiceOptions> = {}): void {
  before(async () => {
    browser = await openChromium();
    life = await Life.start((options) => startService({ ...options, ...changes }));
    life.mine();
  });
  after(async () => {
    await browser.close();
    await life.close();
  });
}

/** A link that sells green tea for 25 dollars. */
export async function addLink(changes: object = {}): Promise<{ linkId: string; linkUrl: string }> {
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'Green tea',
    description: 'Two tins',
    commonPrices: [12_500_000],
  });
  return life.post('/payment/link/create', {
    linkType: 'fixed',
    linkName: 'Tea shop',
    accountId: life.accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 2, unitPrice: 12_500_000 }],
    customSuccessText: 'Thank you, tea friend!',
    ...changes,
  });
}

export const paid = (page: Page) => page.locator('[data-status=completed]').waitFor();
export const sessionIdOf = (page: Page) => /\/checkout\/(sess_\w+)/.exec(page.url())?.[1] ?? '';

/** A visitor with a wallet on the page of a link. */
export async function visit(
  link: { linkUrl: string },
  options: { injection?: Injection; phone?: boolean } = {},
): Promise<{ page: Page; wallet: TestWallet }> {
  const wallet = new TestWallet([life.ethereum, life.base]);
  const { page } = await openPage(browser, options);
  await wallet.inject(page, options.injection);
  await page.goto(link.linkUrl);
  return { page, wallet };
}
