import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { buildPages } from '@florin/dashboard/build';
import { statement } from '@florin/pg';
import { findFreePort } from '@florin/world';
import type { Browser, Locator, Page } from 'playwright-core';
import { dashboardPagesDoor } from '#http/dashboard/pages.ts';
import { imagesDoor } from '#http/images/images-door.ts';
import { reportsDoor } from '#http/reports/reports-door.ts';
import { silentLog } from '#telemetry/log.ts';
import { DashboardWorld, password } from '../harness/dashboard-world.ts';
import { violationsOf } from './axe.ts';
import { type Complaints, openChromium, openPage } from './chromium.ts';

/** The service with the dashboard, a browser, and an owner's window in it: one of each for all stories of the dashboard. */
export let world: DashboardWorld;
export let browser: Browser;
export let dashboard: string;
export let merchantId: string;
export let owner: { page: Page; complaints: Complaints; email: string };

before(async () => {
  await buildPages();
  const port = await findFreePort();
  const origin = `http://localhost:${port}`;
  dashboard = `${origin}/dashboard`;
  world = await DashboardWorld.open(undefined, origin);
  const server = await world.serve('local', undefined, [
    dashboardPagesDoor(),
    ...[world.previews(), world.uploads(), imagesDoor({ store: world.images.store, log: silentLog })],
    reportsDoor({ db: world.merchants.database.db, clock: world.merchants.clock }),
  ]);
  await server.listen({ host: 'localhost', port });
  browser = await openChromium();
  merchantId = await world.merchants.addMerchant();
  const { email } = await world.addPerson([[merchantId, 'owner']]);
  owner = { ...(await openPage(browser, { isApart: true })), email };
});
after(async () => {
  await browser.close();
  await world.close();
});

/** The mail server has refused an address for good. */
export const insertBounce = statement({
  name: 'dashboard_test_insert_bounce',
  parameters: { address: 'text', at: 'timestamptz' },
  text: `insert into mail_bounces (address, reason, bounced_at) values (:address, '550 5.1.1 no such mailbox', :at)`,
});

export async function signIn(page: Page, email: string, typed = password): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(typed);
  await page.getByLabel('Password', { exact: true }).press('Enter');
}

/**
 * The browser itself notes refused and lost requests, and that the preview's sandbox refuses the script of the tests'
 * clock. Anything else is a fault of the page.
 */
export function faultsOf({ errors }: Complaints): string[] {
  return errors.filter(
    (text) => !/^(Failed to load resource|Blocked script execution in '[^']*\/dashboard\/preview)/.test(text),
  );
}

/** What is wrong with how a page looks: it scrolls sideways, or axe has a finding. */
async function findingsOf(page: Page): Promise<string[]> {
  const fits = await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth');
  const found = await violationsOf(page);
  return [...(fits === true ? [] : ['scrolls sideways']), ...found].map((text) => `${page.url()}: ${text}`);
}

export async function assertClean(page: Page): Promise<void> {
  assert.deepEqual(await findingsOf(page), []);
}

/** As `findingsOf`, of the light and of the dark page, once everything on it is there. */
export async function findingsInBoth(page: Page): Promise<string[]> {
  await page.waitForLoadState('networkidle');
  const found: string[] = [];
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    found.push(...(await findingsOf(page)));
  }
  return found;
}

/** Types the password where the service asks who acts, until what the act says is there. */
export async function proveIfAsked(page: Page, done: Locator): Promise<void> {
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.or(done).first().waitFor();
  if (await proof.isVisible()) {
    await proof.getByLabel('Password', { exact: true }).fill(password);
    await proof.getByRole('button', { name: 'Confirm' }).click();
  }
  await done.first().waitFor();
}
