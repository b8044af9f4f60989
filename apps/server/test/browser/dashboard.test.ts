import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { buildPages } from '@florin/dashboard/build';
import { runDeliveries } from '@florin/outbox';
import { statement } from '@florin/pg';
import { findFreePort } from '@florin/world';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { listTokenStops } from '#chains/token-stop.ts';
import { dashboardPagesDoor } from '#http/dashboard/pages.ts';
import { imagesDoor } from '#http/images/images-door.ts';
import { reportsDoor } from '#http/reports/reports-door.ts';
import { operator } from '#members/audit.ts';
import { invite } from '#members/invitation.ts';
import { recoverByOperator } from '#members/recovery.ts';
import { makeReports } from '#reports/report.ts';
import { silentLog } from '#telemetry/log.ts';
import { outboxWorker } from '#webhooks/outbox-context.ts';
import { fuzzFactor } from '../fuzz/seed.ts';
import { DashboardWorld, password, walletDelayMs } from '../harness/dashboard-world.ts';
import { addPaidSession, happen } from '../harness/payment-fixture.ts';
import { sampleImage } from '../harness/sample-image.ts';
import { openShop } from '../harness/shop.ts';
import { fastSettings } from '../harness/webhook-world.ts';
import { type Complaints, openChromium, openPage } from './chromium.ts';

let world: DashboardWorld;
let browser: Browser;
let dashboard: string;
let merchantId: string;
let owner: { page: Page; complaints: Complaints; email: string };
/** Of the operator's staff. */
let olga: { page: Page; complaints: Complaints };

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

async function signIn(page: Page, email: string, typed = password): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(typed);
  await page.getByLabel('Password', { exact: true }).press('Enter');
}

/**
 * The browser itself notes refused and lost requests, and that the preview's sandbox refuses the script of the tests'
 * clock. Anything else is a fault of the page.
 */
function faultsOf({ errors }: Complaints): string[] {
  return errors.filter(
    (text) => !/^(Failed to load resource|Blocked script execution in '[^']*\/dashboard\/preview)/.test(text),
  );
}

/** Every rule of WCAG 2.2 AA that a program can check, and axe's own best practices. */
const axeOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  resultTypes: ['violations'],
};

/** In `npm test`, every fourth look is one of axe, which takes a second; in `npm run test:deep`, each. */
const looksPerAxe = fuzzFactor > 1 ? 1 : 4;
let looks = 0;

async function assertClean(page: Page): Promise<void> {
  assert.ok(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), page.url());
  looks += 1;
  if (looks % looksPerAxe !== 0) return;
  await page.evaluate(axe.source);
  const violations = await page.evaluate(
    `axe.run(document, ${JSON.stringify(axeOptions)}).then(({ violations }) => violations.flatMap(
      ({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ' ' + html.slice(0, 200) + failureSummary)))`,
  );
  assert.deepEqual([page.url(), violations], [page.url(), []]);
}

test('an owner signs in and invites; the new member accepts and sees what the role may do', async () => {
  const { page, email } = owner;
  await page.goto(`${dashboard}/team`);
  await signIn(page, email, 'a wrong password');
  await page.getByText('The e-mail or the password is wrong.').waitFor();
  assert.equal(await page.evaluate('document.activeElement.name'), 'password');
  await signIn(page, email);
  // The address without a merchant leads to the person's own one.
  await page.waitForURL(`${dashboard}/${merchantId}/team`);

  await page.getByRole('button', { name: 'Invite a member' }).first().click();
  await page.getByRole('radio', { name: 'Viewer' }).check();
  await page.getByLabel('E-mail').fill('not an address');
  await page.evaluate('document.querySelector("form").noValidate = true');
  await page.getByRole('button', { name: 'Make the link' }).click();
  await page.locator('[aria-invalid=true]').waitFor();
  assert.equal(await page.evaluate('document.activeElement.type'), 'email');
  await page.getByLabel('E-mail').fill('vera@example.com');
  await page.getByRole('button', { name: 'Make the link' }).click();
  const url = await page.getByLabel('Link of the invitation').inputValue();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('cell', { name: 'vera@example.com' }).waitFor();

  const visitor = await openPage(browser, { isApart: true, phone: true });
  await visitor.page.goto(url);
  await visitor.page.getByLabel('Your name').fill('Vera');
  await visitor.page.getByLabel('Password', { exact: true }).fill(password);
  await visitor.page.getByRole('button', { name: 'Create the account' }).click();
  await visitor.page.getByLabel('I have kept the codes').check();
  await visitor.page.getByRole('button', { name: 'Continue' }).click();
  await visitor.page.waitForURL(`${dashboard}/${merchantId}`);
  await visitor.page.goto(`${dashboard}/${merchantId}/team`);
  await visitor.page.getByText(email).waitFor();
  assert.equal(await visitor.page.getByRole('button', { name: 'Invite a member' }).count(), 0);
  assert.equal(await visitor.page.getByRole('link', { name: 'API keys' }).count(), 0);
  await visitor.page.goto(`${dashboard}/${merchantId}/keys`);
  await visitor.page.getByRole('heading', { name: 'Your role does not open this screen' }).waitFor();
  // The link works once; who has an account goes on from there.
  await visitor.page.goto(url);
  await visitor.page.getByRole('heading', { name: 'This invitation does not work' }).waitFor();
  await assertClean(visitor.page);
  await visitor.page.getByRole('link', { name: 'Sign in' }).click();
  await visitor.page.waitForURL(/sign-in|\/mer_/);
  assert.deepEqual(faultsOf(visitor.complaints), []);
  await visitor.page.context().close();

  await page.reload();
  await page.getByRole('cell', { name: 'Vera vera@example.com' }).waitFor();
});

test('the first page sums what was received and settled, as a chart and as a table', async () => {
  const { merchantId: shopId, key, things } = await openShop(world.merchants);
  const { order } = await addPaidSession(world.merchants, { key, accountId: things.accountId });
  await happen(world.merchants, order, 'Settled');
  const { email } = await world.addPerson([[shopId, 'viewer']]);
  const { page, complaints } = await openPage(browser, { isApart: true });
  await page.goto(`${dashboard}/${shopId}`);
  await signIn(page, email);
  const chart = page.getByRole('region', { name: 'Received on each day. The arrow keys choose a bar.' });
  await chart.waitFor();
  await assertClean(page);
  await chart.press('ArrowLeft');
  await page.getByRole('button', { name: 'Settled', exact: true }).click();
  await page.getByRole('region', { name: /^Settled on each day/ }).waitFor();
  await page.getByRole('button', { name: '7 days' }).click();
  await page.getByRole('button', { name: '7 days', pressed: true }).waitFor();
  await page.getByRole('button', { name: 'Show as a table' }).click();
  const days = page.getByRole('region', { name: 'Days', exact: true });
  assert.equal(await days.getByRole('row').count(), 8);
  await assertClean(page);
  await page.getByRole('button', { name: 'Show the chart' }).click();
  await page.getByRole('region', { name: /^Settled on each day/ }).waitFor();
  assert.deepEqual(faultsOf(complaints), []);
  await page.close();
});

test('reports show the sums of a month, a file has the same total, and the statement lists the settlements', async () => {
  const { merchants } = world;
  const shopId = await merchants.addMerchant();
  const key = await merchants.addKey(shopId);
  const accountId = await merchants.addAccount(shopId);
  const net: bigint[] = [];
  for (let count = 0; count < 2; count += 1) {
    const { order } = await addPaidSession(merchants, { key, accountId });
    await happen(merchants, order, 'Settled');
    net.push(order.amounts.netValue);
  }
  const total = net.reduce((sum, value) => sum + value, 0n);
  const shown = `$${total / 1_000_000n}.${String(total % 1_000_000n)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')}`;
  // A report ends before the present second.
  merchants.clock.time += 60_000;
  const day = (days: number) => new Date(merchants.clock.time + days * 86_400_000).toISOString().slice(0, 10);
  const { email } = await world.addPerson([[shopId, 'viewer']]);
  const { page, complaints } = await openPage(browser, { isApart: true });
  // The service's worker makes the files.
  const working = new AbortController();
  const work = (async () => {
    while (!working.signal.aborted) {
      await makeReports(merchants.database.db, { clock: merchants.clock, log: silentLog });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  try {
    await page.goto(`${dashboard}/${shopId}/reports?month=days&from=${day(-2)}&to=${day(2)}`);
    await signIn(page, email);
    const sums = page.getByRole('table', { name: 'Sums' });
    await sums.getByText(shown, { exact: true }).waitFor();
    await assertClean(page);
    await page.getByRole('button', { name: 'Download' }).click();
    const dialog = page.getByRole('dialog');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: 'Download' }).click(),
    ]);
    const [header = '', ...lines] = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\r\n');
    const column = header.split(',').indexOf('netValue');
    assert.equal(
      lines.reduce((sum, line) => sum + BigInt(line.split(',')[column] ?? ''), 0n),
      total,
    );
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Statement' }).click();
    const list = page.getByRole('table', { name: 'Settlements' });
    await list.waitFor();
    assert.equal(await list.getByRole('row').count(), 1 + net.length);
    const row = page
      .getByRole('table', { name: 'Sums by wallet and token' })
      .getByRole('row', { name: /^Total/ });
    assert.ok((await row.textContent())?.endsWith(shown));
    await assertClean(page);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    assert.equal(await page.getByRole('navigation').filter({ visible: true }).count(), 0);
    assert.equal(await page.getByRole('button').filter({ visible: true }).count(), 0);
    assert.ok(await list.isVisible());
    assert.equal(await page.evaluate('getComputedStyle(document.body).color'), 'rgb(0, 0, 0)');
    assert.deepEqual(faultsOf(complaints), []);
  } finally {
    working.abort();
    await work;
    await page.close();
  }
});

test('a key is made with a fresh proof, once for a double click, and shown once', async () => {
  const { page } = owner;
  await page.goto(`${dashboard}/${merchantId}/keys`);
  world.merchants.clock.time += 6 * 60_000;
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByLabel('Largest session').fill('no number');
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('This is no amount').waitFor();
  await page.getByLabel('Largest session').fill('250');
  // Without a connection what was typed stays.
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('No connection to the service').waitFor();
  await page.context().setOffline(false);
  assert.equal(await page.getByLabel('Largest session').inputValue(), '250');
  await page.getByRole('button', { name: 'Create the key' }).dblclick();
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByLabel('Password', { exact: true }).fill(password);
  await proof.getByRole('button', { name: 'Confirm' }).click();
  assert.match(await page.getByRole('textbox', { name: 'API key' }).inputValue(), /^rk_live_/);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('cell', { name: /rk_live_/ }).waitFor();
  assert.equal(await page.getByRole('cell', { name: /rk_live_/ }).count(), 1);
});

test('a webhook is added, fails and is tried again; its secret wants a fresh proof; a viewer changes nothing', async () => {
  const { page } = owner;
  const statuses = [500, 204];
  const egress = {
    post: async (url: string) => {
      // The shop of the sums has a webhook, too.
      const status = url.endsWith('/florin') ? (statuses.shift() ?? 204) : 204;
      return { status, headers: { retryAfter: undefined }, bodyText: `answer ${status}`, latencyMs: 1 };
    },
  };
  const { deps, database, clock } = world.merchants;
  const worker = outboxWorker({ ...deps, db: database.db, log: silentLog, egress, settings: fastSettings });
  const stop = new AbortController();
  const running = runDeliveries(worker, stop.signal);
  try {
    await page.goto(`${dashboard}/${merchantId}/webhooks`);
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    await page.getByLabel('Name').fill('Shop server');
    await page.getByLabel('URL').fill('http://shop.example.com/florin');
    await page.getByRole('button', { name: 'Add the webhook' }).click();
    await page.getByText('must use https').waitFor();
    assert.equal(await page.evaluate('document.activeElement.type'), 'url');
    await page.getByLabel('URL').fill('https://shop.example.com/florin');
    await page.getByRole('button', { name: 'Add the webhook' }).click();
    await page.getByRole('heading', { name: 'Shop server' }).waitFor();

    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const delivery = page.getByRole('dialog', { name: 'webhook.test' });
    await delivery.getByText('Retrying').waitFor();
    clock.time += 6 * 60_000;
    await delivery.getByText('Delivered').waitFor();
    await delivery.getByText('Different from attempt 1').waitFor();
    await delivery.getByText('answer 500').first().waitFor();
    await assertClean(page);
    await delivery.getByRole('button', { name: 'Close' }).click();

    // The proof of the test before is too old by now.
    await page.clock.install();
    await page.reload();
    await page.getByRole('button', { name: 'Show the secret' }).click();
    const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await proof.getByLabel('Password', { exact: true }).fill(password);
    await proof.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('button', { name: 'Copy the secret' }).waitFor();
    assert.match((await page.locator('code').textContent()) ?? '', /^whsec_[A-Za-z0-9+/]{20,}/);
    // It does not stay readable on a page that is left open.
    clock.time += 6 * 60_000;
    await page.clock.fastForward(6 * 60_000);
    await page.getByRole('button', { name: 'Show the secret' }).waitFor();
    assert.match((await page.locator('code').textContent()) ?? '', /^whsec_••••/);
  } finally {
    stop.abort();
    await running;
  }

  const { email } = await world.addPerson([[merchantId, 'viewer']]);
  const visitor = await openPage(browser, { isApart: true });
  await visitor.page.goto(page.url());
  await signIn(visitor.page, email);
  await visitor.page.getByText('Delivered').waitFor();
  for (const name of ['Send a test', 'Edit', 'More', 'Replace', 'Show the secret'])
    assert.equal(await visitor.page.getByRole('button', { name }).count(), 0, name);
  await visitor.page.context().close();
});

const insertHaltedChain = statement({
  name: 'dashboard_test_insert_halted_chain',
  parameters: { chainId: 'int8', hash: 'text', at: 'timestamptz' },
  columns: {},
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time,
     halted_reason, updated_at)
   values (:chainId, 20, :hash, :at, 16, :hash, :at, 'reorg below the final block 16', :at)`,
});

const insertBounce = statement({
  name: 'dashboard_test_insert_bounce',
  parameters: { address: 'text', at: 'timestamptz' },
  columns: {},
  text: `insert into mail_bounces (address, reason, bounced_at) values (:address, '550 5.1.1 no such mailbox', :at)`,
});

test('a new member of the staff sees a halted chain with its runbook, resumes it, and stops a token', async () => {
  const { db } = world.merchants.database;
  const [halted] = world.merchants.deps.chains.all;
  assert.ok(halted !== undefined);
  const at = world.merchants.clock.now();
  await db.query(insertHaltedChain, { chainId: BigInt(halted.chainId), hash: `0x${'ab'.repeat(32)}`, at });
  const { token } = await db.transaction((transaction) =>
    invite(transaction, world.options, { merchantId: undefined, role: 'staff', email: '', invitedBy: '' }),
  );
  const { page, complaints } = await openPage(browser, { isApart: true });
  await page.goto(`${dashboard}/invitation#${token}`);
  await page.getByRole('heading', { name: 'Join the operator’s staff' }).waitFor();
  await page.getByLabel('Your name').fill('Olga');
  await page.getByLabel('E-mail').fill('olga@example.com');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await page.getByLabel('I have kept the codes').check();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${dashboard}/operator`);

  const problem = page.getByRole('listitem').filter({ hasText: `${halted.name} is halted` });
  await problem.getByText('reorg below the final block 16').waitFor();
  const runbook = await problem
    .getByRole('link', { name: 'Runbook: A chain is halted' })
    .getAttribute('href');
  assert.equal(runbook, '/docs/runbook/chain-halted');
  await problem.getByRole('link', { name: `${halted.name} is halted` }).click();
  await page.getByRole('button', { name: 'Resume…' }).click();
  await page.getByLabel('Reason').fill('two explorers have this block');
  await page.getByRole('button', { name: 'Resume the chain' }).click();
  await page.getByText('Resuming', { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Resume…' }).count(), 0);

  // An act asks for a fresh proof by itself.
  world.merchants.clock.time += 6 * 60_000;
  await page.getByRole('link', { name: 'Tokens' }).click();
  await page.getByRole('button', { name: 'Stop… ethereum::usdc' }).click();
  await page.getByLabel('Reason').fill('the issuer has an incident');
  await page.getByRole('button', { name: 'Stop the token' }).click();
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await proof.getByLabel('Password', { exact: true }).fill(password);
  await proof.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('button', { name: 'Take again… ethereum::usdc' }).waitFor();
  const stops = (await listTokenStops(db)).map(({ tokenId, reason }) => [tokenId, reason]);
  assert.deepEqual(stops, [['ethereum::usdc', 'the issuer has an incident']]);

  await db.query(insertBounce, { address: 'lost.payer@example.com', at });
  await page.getByRole('link', { name: 'E-mails' }).click();
  await page.getByRole('cell', { name: 'l•••@example.com' }).waitFor();
  await page.getByRole('button', { name: 'Send to an address again…' }).click();
  await page.getByRole('textbox', { name: 'Address' }).fill('other@example.com');
  await page.getByLabel('Reason').fill('the payer asked');
  await page.getByRole('button', { name: 'Send again', exact: true }).click();
  await page.getByText('was not refused by the mail server').waitFor();
  await page.getByRole('textbox', { name: 'Address' }).fill('lost.payer@example.com');
  await page.getByRole('button', { name: 'Send again', exact: true }).click();
  await page.getByText('No address was refused').waitFor();

  olga = { page, complaints };
});

test('the operator’s screens fit a phone, have no findings of axe, and link everything red or amber to its runbook', async () => {
  const { page, complaints } = olga;
  await page.setViewportSize({ width: 390, height: 844 });
  const screens = [
    '',
    'chains',
    'settlements',
    'settlements?tab=legs',
    'settlements?tab=transactions',
    'funds',
  ];
  const others = ['books', 'tokens', 'merchants', 'all-exceptions', 'backlog', 'e-mails', 'configuration'];
  const troubles = new Set<string>();
  for (const path of [...screens, ...others, 'staff']) {
    await page.goto(`${dashboard}/operator/${path}`);
    await page.waitForLoadState('networkidle');
    await assertClean(page);
    for (const trouble of await page.locator('[data-trouble]').all()) {
      const href = await trouble.getByRole('link', { name: /^Runbook: / }).getAttribute('href');
      assert.ok(href?.startsWith('/docs/runbook/'), path);
      troubles.add((await trouble.getAttribute('data-trouble')) ?? '');
    }
  }
  for (const trouble of ['chainHalted', 'stoppedByHalt', 'tokenStopped', 'gasLow', 'vaultUnknown'])
    assert.ok(troubles.has(trouble), `${trouble} of ${[...troubles].join(', ')}`);

  await page.goto(`${dashboard}/operator/settlements?tab=legs`);
  await page
    .getByRole('row', { name: /Settlement/ })
    .getByRole('button', { name: /Settlement/ })
    .first()
    .click();
  const sheet = page.getByRole('dialog', { name: /Settlement on/ });
  await sheet.getByRole('link', { name: 'Payment' }).waitFor();
  await assertClean(page);
  assert.deepEqual(faultsOf(complaints), []);
  await page.context().close();
});

test('the operator’s screens are closed to members', async () => {
  const { page } = owner;
  await page.goto(`${dashboard}/operator`);
  await page.getByText('There is nothing here').waitFor();
});

/** Of a screen by its number: one in `npm test`, both in `npm run test:deep`. */
function colorSchemesOf(screen: number): readonly ('light' | 'dark')[] {
  if (fuzzFactor > 1) return ['light', 'dark'];
  return [screen % 2 === 0 ? 'light' : 'dark'];
}

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
  for (const [index, path] of screens.entries()) {
    await page.goto(dashboard + path);
    await page.waitForLoadState('networkidle');
    for (const colorScheme of colorSchemesOf(index)) {
      await page.emulateMedia({ colorScheme });
      await assertClean(page);
    }
  }
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
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Branding saved', { exact: true }).waitFor();
  await assertClean(page);
  await page.reload();
  assert.equal(await color.inputValue(), '#7a1fa2');
  assert.equal(await page.getByLabel('Legal name').inputValue(), 'Stoneware & Sons Ltd');
  assert.equal(await page.getByLabel('Corners').inputValue(), '4');
  await preview('7a1fa2').getByText('Stoneware mug').waitFor();
});

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
  await choose('teapot.png', await sampleImage('png', 40, 20));
  await page.getByRole('button', { name: 'Upload another' }).waitFor();
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
  await page.getByRole('button', { name: 'Create the link' }).click();
  await page.getByRole('heading', { name: 'Tea for two' }).waitFor();
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
  const proof = page.getByRole('dialog', { name: 'Confirm that it is you' });
  const saved = page.getByText('The shop has a new name', { exact: true });
  await proof.or(saved).first().waitFor();
  if (await proof.isVisible()) {
    await proof.getByLabel('Password', { exact: true }).fill(password);
    await proof.getByRole('button', { name: 'Confirm' }).click();
  }
  await saved.waitFor();
  await page.getByRole('definition').getByText('Tea & Co').waitFor();
  await page.getByRole('button', { name: 'Tea & Co' }).first().waitFor();
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
  assert.equal(await page.locator('ol li').count(), 10);
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
