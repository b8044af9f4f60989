import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runDeliveries } from '@florin/outbox';
import { parseUsd } from '@florin/protocol/money.ts';
import { makeReports } from '#reports/report.ts';
import { silentLog } from '#telemetry/log.ts';
import { outboxWorker } from '#webhooks/outbox-context.ts';
import { password } from '../harness/dashboard-world.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { addPaidSession, happen } from '../harness/payment-fixture.ts';
import { openShop } from '../harness/shop.ts';
import { fastSettings } from '../harness/webhook-world.ts';
import { openChromium, openPage } from './chromium.ts';
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
  // Who is signed in with another address is told so.
  await page.goto(url);
  await page
    .getByText(`The invitation is for vera@example.com, and you are signed in as ${email}.`)
    .waitFor();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await assertClean(page);
  await page.goto(`${dashboard}/${merchantId}/team`);

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

test('the first page sums what was received and settled, as a chart and as a table', deepOnly, async () => {
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
  const kinds = page.getByRole('group', { name: 'What the chart shows' });
  await kinds.getByRole('button', { name: 'Settled' }).click();
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

test('what opens above a page moves nothing of it, where scrollbars take room', deepOnly, async () => {
  const apart = await openChromium({ hasScrollbars: true });
  try {
    const { page } = await openPage(apart);
    await page.goto(`${dashboard}/${merchantId}/payments`);
    await signIn(page, owner.email);
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
    // A short page and one that scrolls.
    for (const height of [1_600, 300]) {
      await page.setViewportSize({ width: 1100, height });
      const end = () => page.evaluate("document.querySelector('main').getBoundingClientRect().right");
      const before = await end();
      for (const name of ['Filters', 'Views']) {
        await page.getByRole('button', { name, exact: true }).click();
        await page.locator('html.is-locked').waitFor();
        assert.deepEqual([height, name, await end()], [height, name, before]);
        await page.keyboard.press('Escape');
        await page.locator('html.is-locked').waitFor({ state: 'detached' });
      }
    }
  } finally {
    await apart.close();
  }
});

test(
  'reports show the sums of a month, a file has the same total, and the statement lists the settlements',
  deepOnly,
  async () => {
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
    const day = (days: number) =>
      new Date(merchants.clock.time + days * 86_400_000).toISOString().slice(0, 10);
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
      const order = sums.getByRole('columnheader', { name: 'Settled' });
      const settled = () => sums.locator('tbody td:last-child').allTextContents();
      await order.getByRole('button').click();
      assert.equal(await order.getAttribute('aria-sort'), 'descending');
      assert.equal((await settled())[0], shown);
      await assertClean(page);
      await page.getByRole('button', { name: 'Download' }).click();
      const dialog = page.getByRole('dialog');
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        dialog.getByRole('button', { name: 'Download' }).click(),
      ]);
      assert.match(file.suggestedFilename(), /^settlements-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d\.csv$/);
      const text = readFileSync(await file.path(), 'utf8');
      assert.equal(text.charAt(0), '\uFEFF');
      const [header = '', ...lines] = text.trim().split('\r\n');
      const column = header.split(',').indexOf('netInUSD');
      assert.equal(
        lines.reduce((sum, line) => sum + (parseUsd(line.split(',')[column] ?? '') ?? 0n), 0n),
        total,
      );
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Statement' }).click();
      const list = page.getByRole('table', { name: 'Settlements' });
      await list.waitFor();
      assert.equal(await list.getByRole('row').count(), 1 + net.length);
      const { accountAddress } = (await merchants.send('GET', `/account/detail/${accountId}`, { key })).data;
      assert.equal(await list.getByText(accountAddress, { exact: true }).count(), net.length);
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
  },
);

test('a key is made with a fresh proof, once for a double click, and shown once', async () => {
  const { page } = owner;
  await page.goto(`${dashboard}/${merchantId}/keys`);
  world.merchants.clock.time += 6 * 60_000;
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByLabel('Largest session').fill('no number');
  await page.getByRole('button', { name: 'Create the key' }).click();
  const fault = page.getByText('This is no amount');
  await fault.waitFor();
  const [told, buttons] = await Promise.all([fault.boundingBox(), page.locator('[data-acts]').boundingBox()]);
  assert.ok(told !== null && buttons !== null);
  assert.ok(told.y + told.height <= buttons.y, 'the buttons of the sheet do not hide the error');
  await page.getByLabel('Largest session').fill('250');
  // Without a connection what was typed stays.
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Create the key' }).click();
  await page.getByText('What you typed is still here').waitFor();
  await page.context().setOffline(false);
  assert.equal(await page.getByLabel('Largest session').inputValue(), '250');
  // Neither does Cancel discard it without asking.
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Keep editing' }).click();
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
    const home = await page.context().newPage();
    await home.goto(`${dashboard}/${merchantId}`);
    await home.getByRole('link', { name: /^Webhook fails\s*Shop server/ }).click();
    await home.getByRole('heading', { name: 'Shop server' }).waitFor();
    await home.close();
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
  const sent = visitor.page.getByRole('table', { name: 'Deliveries' });
  await sent.getByText('Delivered').waitFor();
  // It was delivered in the end, so it is not among those that fail.
  await visitor.page.getByLabel('State', { exact: true }).selectOption('Failed or retrying');
  await visitor.page.getByText('Nothing matches').waitFor();
  assert.equal(new URL(visitor.page.url()).search, '?state=failing');
  await visitor.page.getByRole('button', { name: 'Clear filters' }).click();
  await sent.getByText('Delivered').waitFor();
  for (const name of ['Send a test', 'Edit', 'More', 'Replace', 'Show the secret'])
    assert.equal(await visitor.page.getByRole('button', { name }).count(), 0, name);
  await visitor.page.context().close();
});
