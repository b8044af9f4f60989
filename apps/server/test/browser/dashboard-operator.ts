import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { statement } from '@florin/pg';
import type { Locator, Page } from 'playwright-core';
import { listTokenStops } from '#chains/token-stop.ts';
import { invite } from '#members/invitation.ts';
import { password } from '../harness/dashboard-world.ts';
import { addPaidSession } from '../harness/payment-fixture.ts';
import { openShop, type Shop } from '../harness/shop.ts';
import { type Complaints, openPage } from './chromium.ts';
import {
  browser,
  dashboard,
  faultsOf,
  findingsInBoth,
  insertBounce,
  owner,
  proveIfAsked,
  world,
} from './dashboard-stage.ts';

/** Of the operator's staff. */
let olga: { page: Page; complaints: Complaints };
/** What went wrong in it before the chain was halted. */
let shop: Shop;
/** A payment whose settlement waits. */
let waiting: Awaited<ReturnType<typeof addPaidSession>>;

const insertHaltedChain = statement({
  name: 'dashboard_test_insert_halted_chain',
  parameters: { chainId: 'int8', hash: 'text', at: 'timestamptz' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time,
     halted_reason, updated_at)
   values (:chainId, 20, :hash, :at, 16, :hash, :at, 'reorg below the final block 16', :at)`,
});

test('a new member of the staff sees a halted chain with its runbook, resumes it, and stops a token', async () => {
  const { db } = world.merchants.database;
  shop = await openShop(world.merchants);
  waiting = await addPaidSession(world.merchants, { key: shop.key, accountId: shop.things.accountId });
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
  assert.equal(runbook, '/docs/runbook/chain-halted#1-find-the-cause');
  await problem.getByRole('link', { name: `${halted.name} is halted` }).click();
  await page.getByRole('button', { name: 'Resume…' }).click();
  await page.getByLabel('Reason').fill('two explorers have this block');
  await page.getByRole('button', { name: 'Resume the chain' }).click();
  await page.getByText('Resuming', { exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Resume…' }).count(), 0);

  // An act asks for a fresh proof by itself.
  world.merchants.clock.time += 6 * 60_000;
  // Without a connection the screen before stays, and the new one opens by itself.
  await page.context().setOffline(true);
  await page.getByRole('link', { name: 'Tokens' }).click();
  const outage = page.getByText('No connection. This page goes on by itself.');
  await outage.waitFor();
  await assertBesideScreens(page, outage);
  await page.getByRole('heading', { name: 'Chains' }).waitFor();
  await page.context().setOffline(false);
  await outage.waitFor({ state: 'detached' });
  const uses = '**/staff/token/use/*';
  await page.route(uses, (route) => route.fulfill({ body: 'no envelope' }));
  await page.getByRole('button', { name: 'Stop… ethereum::usdc' }).click();
  await page.getByText('What settles in it could not be counted.').waitFor();
  await page.unroute(uses);
  await page.getByLabel('Reason').fill('the issuer has an incident');
  // Escape does not discard it without asking.
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Keep editing' }).click();
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

/** The name of the area stands above its screens. */
async function assertBesideScreens(page: Page, notice: Locator): Promise<void> {
  const screens = page.getByRole('navigation', { name: 'Screens' });
  const [told, side] = await Promise.all([notice.boundingBox(), screens.boundingBox()]);
  assert.ok(told !== null && side !== null);
  assert.ok(told.x > side.x + side.width, 'the notice does not cover the name of the area');
}

const holdLeg = statement({
  name: 'dashboard_test_hold_leg',
  parameters: { orderId: 'text', at: 'timestamptz' },
  text: `update settlements set held_at = :at, reason = 'outflow_cap' where order_id = :orderId`,
});

const pauseWebhook = statement({
  name: 'dashboard_test_pause_webhook',
  parameters: { webhookId: 'text' },
  text: `update webhooks set status = 'paused' where webhook_id = :webhookId`,
});

test('the operator releases a held settlement, and goes from an exception and from a paused webhook to their merchant', async () => {
  const { page } = olga;
  const { merchants } = world;
  const { things } = shop;
  const { sessionId, order } = waiting;
  const { db } = merchants.database;
  await db.query(holdLeg, { orderId: order.orderId, at: merchants.clock.now() });
  await db.query(pauseWebhook, { webhookId: things.webhookId });

  await page.goto(`${dashboard}/operator/settlements?tab=legs`);
  await page.getByLabel('Status', { exact: true }).selectOption({ label: 'Held' });
  const search = page.getByLabel('Find the legs of a payment');
  await search.fill(sessionId);
  await search.press('Enter');
  await page.waitForURL(/state=held&of=sess_/);
  await page.getByRole('button', { name: /Settlement/ }).click();
  await page.getByText('waits for you').waitFor();
  await page.getByRole('button', { name: 'Release…' }).click();
  await page.getByLabel('Reason').fill('the cap is raised for this merchant');
  await page.getByRole('button', { name: 'Release', exact: true }).click();
  await proveIfAsked(page, page.getByText('Released: settle'));
  await page.getByText('Nothing matches').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('table', { name: 'Settlement legs' }).getByText('Delayed').first().waitFor();

  const merchantPage = `${dashboard}/${shop.merchantId}`;
  await page.getByRole('link', { name: 'Exceptions' }).click();
  await page.getByRole('tab', { name: 'Open' }).waitFor();
  const late = page.getByRole('row', { name: /^Late/ }).filter({ hasText: 'Open' }).first();
  await late.getByRole('link', { name: 'Test merchant' }).click();
  await page.waitForURL(merchantPage);
  await page.getByRole('heading', { name: 'Home' }).waitFor();

  await page.goto(`${dashboard}/operator/backlog`);
  const paused = page.getByRole('row').filter({ hasText: 'Paused' });
  assert.match((await paused.getByRole('link', { name: /^Runbook/ }).getAttribute('href')) ?? '', /runbook/);
  await paused.getByRole('link', { name: 'Test merchant' }).click();
  await page.waitForURL(merchantPage);
});

test('the operator makes a merchant, invites its owner, suspends it and ends that, and exports the log of it', async () => {
  const { page } = olga;
  await page.goto(`${dashboard}/operator/merchants`);
  await page.getByRole('button', { name: 'Create a merchant' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Kettles & Co');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  const invitation = page.getByRole('dialog', { name: 'Invite to Kettles & Co' });
  await proveIfAsked(page, invitation);
  await invitation.getByRole('button', { name: 'Make the link' }).click();
  const link = page.getByLabel('Link of the invitation');
  await proveIfAsked(page, link);
  assert.match(await link.inputValue(), /\/dashboard\/invitation#./);
  await page.getByRole('button', { name: 'Done' }).click();

  const row = page.getByRole('row').filter({ hasText: 'Kettles & Co' });
  const choose = async (act: string) => {
    await row.getByRole('button', { name: 'Acts on Kettles & Co' }).click();
    await page.getByRole('menuitem', { name: act }).click();
  };
  await choose('Suspend…');
  await page.getByLabel('Reason').fill('it sells what it may not');
  await page.getByRole('button', { name: 'Suspend', exact: true }).click();
  await proveIfAsked(page, row.getByText('Suspended'));
  await choose('End the suspension…');
  await page.getByRole('button', { name: 'End the suspension', exact: true }).click();
  await proveIfAsked(page, row.getByText('Active'));

  await page.goto(`${dashboard}/operator/staff`);
  await page.getByLabel('Act', { exact: true }).selectOption({ label: 'Stopped a token' });
  await page.waitForURL(/action=stopToken/);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as CSV' }).click(),
  ]);
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n');
  assert.deepEqual([lines.length, lines[1]?.includes('stopToken')], [2, true]);
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
  const found: string[] = [];
  for (const path of [...screens, ...others, 'staff']) {
    await page.goto(`${dashboard}/operator/${path}`);
    found.push(...(await findingsInBoth(page)));
    for (const trouble of await page.locator('[data-trouble]').all()) {
      const href = await trouble.getByRole('link', { name: /^Runbook: / }).getAttribute('href');
      assert.ok(href?.startsWith('/docs/runbook/'), path);
      troubles.add((await trouble.getAttribute('data-trouble')) ?? '');
    }
  }
  assert.deepEqual(found, []);
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
  assert.deepEqual(await findingsInBoth(page), []);
  assert.deepEqual(faultsOf(complaints), []);
  await page.context().close();
});

test('the operator’s screens are closed to members', async () => {
  const { page } = owner;
  await page.goto(`${dashboard}/operator`);
  await page.getByText('There is nothing here').waitFor();
});
