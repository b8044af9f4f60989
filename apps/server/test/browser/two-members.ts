import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { buildPages } from '@florin/dashboard/build';
import type { MemberRole } from '@florin/protocol/member-role.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import type { Browser, Page } from 'playwright-core';
import { dashboardOriginOf } from '#members/dashboard-origin.ts';
import { startService } from '../../src/service/service.ts';
import { addPerson, password } from '../harness/dashboard-world.ts';
import { Life } from '../life/life.ts';
import { Payer } from '../life/payer.ts';
import { checkout } from '../life/story-fixture.ts';
import { openChromium, openPage } from './chromium.ts';
import { TestWallet } from './test-wallet.ts';

export let life: Life;
export let browser: Browser;
export let dashboard: string;
/** Two members of one merchant, each with a browser that has a wallet. */
export let ada: Page;
export let bob: Page;
export let adasWallet: TestWallet;
export let bobsWallet: TestWallet;

/** Gives the tests of a file this merchant, whose service shows the dashboard. */
export function useMembers(): void {
  before(async () => {
    await buildPages();
    life = await Life.start((options) => startService({ ...options, environment: 'local' }));
    dashboard = `${dashboardOriginOf({ ...life.options, environment: 'local' })}/dashboard`;
    browser = await openChromium();
    [adasWallet, bobsWallet] = [new TestWallet([life.ethereum]), new TestWallet([life.ethereum])];
    [ada, bob] = [await signedIn('Ada', adasWallet), await signedIn('Bob', bobsWallet)];
    life.mine();
  });
  after(async () => {
    await browser.close();
    await life.close();
  });
}

export async function signedIn(name: string, wallet: TestWallet, role: MemberRole = 'owner'): Promise<Page> {
  const memberships = [[life.merchantId, role]] as const;
  const { email } = await addPerson(life.database.db, life.options, { name, memberships });
  const { page } = await openPage(browser, { isApart: true });
  await wallet.inject(page);
  await page.goto(dashboard);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Password', { exact: true }).press('Enter');
  await page.getByRole('heading', { name: 'Home' }).waitFor();
  return page;
}

export const dollar = 1_000_000;
export const token = () => life.ethereum.token('usdc');

/** A settled payment of ten dollars. */
export async function settledPayment(): Promise<{ sessionId: string; payer: Payer }> {
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token(), 20n * BigInt(dollar));
  const sessionId = await checkout(life, 10 * dollar, token().tokenId);
  await payer.execute(life.ethereum, await payer.prepare(sessionId, token()));
  await life.sessionIn(sessionId, 'completed');
  return { sessionId, payer };
}

/** A refund of a part that a wallet has to sign. The wallets have the money; their allowance is there already. */
export async function openRefund(sessionId: string, amount: number): Promise<string> {
  for (const wallet of [adasWallet, bobsWallet]) {
    await wallet.fund(life.ethereum, token(), BigInt(amount));
    await wallet.approve(life.ethereum, token(), BigInt(amount));
  }
  return (await life.post<Refund>('/refund/create', { sessionId, amount })).refundId;
}

export const visit = (page: Page, path: string) => page.goto(`${dashboard}/${life.merchantId}/${path}`);
export const balanceOf = ({ address }: Payer) => life.ethereum.balanceOf(token(), address);
export const signButton = (page: Page) => page.getByRole('button', { name: 'Connect and sign' });
export const completed = (page: Page) => page.getByText('The payer has the money back').waitFor();
export const refundedOf = async (sessionId: string) =>
  (await life.get<{ session: { refundedAmount: number } }>(`/session/${sessionId}`)).session.refundedAmount;

/** Proves again who acts: on a slow machine the sign-in is older than five minutes. */
export async function prove(page: Page): Promise<void> {
  const request = {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ password }),
  };
  const code = await page.evaluate(
    `fetch('/dashboard/api/me/prove', ${JSON.stringify(request)}).then((reply) => reply.json()).then(({ code }) => code)`,
  );
  assert.equal(code, 0);
}
