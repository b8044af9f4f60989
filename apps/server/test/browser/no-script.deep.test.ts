import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { openChromium, openPage } from './chromium.ts';
import { PageWorld } from './page-world.ts';

let world: PageWorld;
let browser: Browser;

before(async () => {
  browser = await openChromium();
  world = await PageWorld.open();
});
after(async () => {
  await browser.close();
  await world.close();
});

const withoutScripts = { javaScriptEnabled: false, phone: true, locale: 'de' } as const;
const refund = `0x${'d4'.repeat(20)}`;

/** axe's findings for the page without scripts. They are computed in another page, because axe itself is a script. */
async function violationsOf(page: Page): Promise<unknown> {
  const seen = (await page.content()).replace(/<script\b.*?<\/script>|<\/?noscript>/gs, '');
  const other = await openPage(browser, { phone: true });
  await other.page.setContent(seen);
  await other.page.evaluate(axe.source);
  const violations = await other.page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + nodes[0]?.html))',
  );
  await other.page.close();
  return violations;
}

test('without scripts a link begins a session that shows where to send the money', async () => {
  const linkId = await world.addLink();
  const { page, complaints } = await openPage(browser, withoutScripts);
  await page.goto(`${world.origin}/link/${linkId}`);
  assert.deepEqual(await violationsOf(page), []);
  await page.getByRole('button', { name: 'Bezahlen', exact: true }).click();
  await page.getByText('Wartet auf Zahlung').waitFor();
  const url = new URL(page.url());
  const sessionId = url.pathname.split('/').at(-1) ?? '';
  assert.match(`${url.pathname}${url.hash}`, /^\/checkout\/sess_\w{22}#[0-9A-Za-z]{22}$/);
  assert.deepEqual(await violationsOf(page), []);
  await page.locator('#form-token').selectOption('base::usdc');
  await page.locator('#form-refund').fill('0x1');
  await page.getByRole('button', { name: 'Einzahlungsadresse zeigen' }).click();
  await page.locator('#form-problem').getByText('42 Zeichen').waitFor();
  await page.locator('#form-refund[aria-invalid=true][aria-describedby~=form-problem]').waitFor();
  assert.deepEqual(await violationsOf(page), []);
  await page.locator('#form-token').selectOption('base::usdc');
  await page.locator('#form-refund').fill(refund);
  await page.getByRole('button', { name: 'Einzahlungsadresse zeigen' }).click();
  const panel = page.locator('#deposit');
  await panel.getByText('Base').first().waitFor();
  const address = (await panel.locator('.address').textContent()) ?? '';
  assert.match(address, /^0x[0-9a-fA-F]{40}$/);
  assert.match((await panel.textContent()) ?? '', /25,15\sUSDC.*0xd4d4/i);
  assert.equal(await panel.locator('.address-code').getAttribute('alt'), 'QR-Code der Adresse');
  const code = await page.request.get(
    world.origin + (await panel.locator('.address-code').getAttribute('src')),
  );
  assert.match(await code.text(), /^<svg/);
  assert.deepEqual(await violationsOf(page), []);
  // Nothing on it claims to follow the payment, and asked again it shows the same.
  assert.equal(await page.getByText('aktualisiert sich automatisch').isVisible(), false);
  await panel.getByText('Wartet auf Zahlung').waitFor();
  await page.getByRole('button', { name: 'Stand der Zahlung zeigen' }).click();
  assert.equal(await panel.locator('.address').textContent(), address);
  assert.equal(new URL(page.url()).pathname, `/checkout/${sessionId}/deposit`);
  await world.putArrived(sessionId, 10n ** 19n);
  await page.goto(page.url());
  assert.equal(new URL(page.url()).pathname, `/checkout/${sessionId}`);
  await page.getByText('Wartet auf Zahlung').waitFor();
  // Every page of the session says so, so that it is not paid again, also the one with the secret.
  const told = `10,00 USDC sind an einer Adresse angekommen, die auf ${address.slice(-4)} endet`;
  await page.getByText(told).waitFor();
  await page.getByRole('link', { name: 'Wie Geld zurückkommt' }).waitFor();
  const own = await openPage(browser, { isApart: true, phone: true, locale: 'de' });
  await world.visit(own.page, `${url.pathname}${url.hash}`);
  await own.page.getByText(told).waitFor();
  assert.equal((await own.page.content()).includes(address), false);
  // Asked for again with the secret and the same refund address, it is the same one, and becomes the payer's.
  await own.page.locator('#by-address').check();
  await own.page.locator('#change-way').click();
  await own.page.getByRole('dialog').getByRole('group', { name: 'Base' }).getByRole('radio').first().check();
  await own.page.locator('#refund-input').fill(refund);
  await own.page.locator('#show-deposit').click();
  await own.page.locator('#deposit').getByText('10,00 USDC sind angekommen.').waitFor();
  assert.equal(await own.page.locator('#deposit-address').textContent(), address);
  assert.equal(await own.page.getByText(told).count(), 0);
  await own.page.context().close();
  assert.deepEqual(complaints.errors, []);
  await page.close();
});

test('without scripts the payer of a custom link types the amount, and sees what is wrong with it', async () => {
  const lineItems = [{ itemType: 'user_priced' }];
  const linkId = await world.addLink({ linkType: 'custom', lineItems, payerEmailRequired: 1 });
  const { page } = await openPage(browser, { ...withoutScripts, locale: 'en-US' });
  await page.goto(`${world.origin}/link/${linkId}?lang=tr`);
  const begin = async (amount: string) => {
    await page.locator('#form-amount').fill(amount);
    await page.locator('form button').click();
  };
  await begin('viel');
  await page.locator('#form-problem').filter({ hasText: '25' }).waitFor();
  await page.locator('#form-amount[aria-invalid=true][aria-describedby~=form-problem]').waitFor();
  await begin('10,5');
  await page.getByRole('heading', { level: 1, name: '$10,521' }).waitFor();
  assert.equal(new URL(page.url()).search, '?lang=tr');
  await page.locator('#form-refund').fill(refund);
  await page.locator('#form-email').fill('ada@example.com');
  await page.locator('form button').click();
  await page.locator('#deposit').getByText('10,521').waitFor();
  await page.close();
});

test('a link that changed after it was shown is shown again, and begins no session', async () => {
  const linkId = await world.addLink();
  const { page } = await openPage(browser, { ...withoutScripts, locale: 'en-US' });
  await page.goto(`${world.origin}/link/${linkId}`);
  await world.renameLink(linkId, 'Coffee shop');
  await page.getByRole('button', { name: 'Pay', exact: true }).click();
  await page.locator('#form-problem').getByText('The merchant has changed this offer').waitFor();
  await page.locator('.title').getByText('Coffee shop').waitFor();
  await page.close();
});
