import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { openChromium, openPage } from './chromium.ts';
import { injectStub, PageWorld } from './page-world.ts';
import { chooseWay } from './states.ts';

let world: PageWorld;
let browser: Browser;
let linkId: string;

before(async () => {
  browser = await openChromium();
  world = await PageWorld.open({ vaultCap: 5_000_000_000n });
  linkId = await world.addLink({ linkType: 'custom', lineItems: [{ itemType: 'user_priced' }] });
});
after(async () => {
  await browser.close();
  await world.close();
});

const field = (page: Page) => page.locator('#amount-input');
const priced = (page: Page, amount: string) =>
  page.getByRole('heading', { level: 1, name: amount, exact: true }).waitFor();

test('a comma that groups thousands means thousands of dollars, on the page and in the session', async () => {
  const { page, complaints } = await openPage(browser, { phone: true });
  await world.visit(page, `/link/${linkId}`);
  assert.equal(await field(page).getAttribute('inputmode'), 'decimal');
  await field(page).pressSequentially('1,000.00');
  assert.equal(await field(page).inputValue(), '1,000.00');
  await priced(page, '$1,002.00');
  await page.locator('#by-address').check();
  await page.locator('#refund-input').fill(`0x${'d4'.repeat(20)}`);
  await page.locator('#show-deposit').click();
  await page.getByRole('heading', { name: 'Send exactly 1,002.00 USDC' }).waitFor();
  const { pathname } = new URL(page.url());
  const agentUrl = await page.locator('link[rel=alternate]').getAttribute('href');
  assert.ok(agentUrl?.endsWith(pathname.replace('/checkout/', '/session/')), agentUrl ?? '');
  const reply = await fetch(`${world.origin}${pathname.replace('/checkout/', '/checkout/api/session/')}`);
  const { data } = (await reply.json()) as { data: { state: { amount: string } } };
  assert.equal(data.state.amount, '1000000000');
  assert.deepEqual(complaints.errors, []);
  await page.close();
});

test('an ambiguous amount begins no session, and the page shows how to type each meaning', async () => {
  const { page } = await openPage(browser);
  await injectStub(page);
  await world.visit(page, `/link/${linkId}`);
  await page.locator('.wallet').click();
  await field(page).fill('1.000');
  const problem = 'This can be read as two amounts. Type 1,000.00 or 1.00.';
  await page.locator('#amount-problem').getByText(problem).waitFor();
  await page.locator('#pay-button').click();
  // Where the payer mends it.
  await page.locator('#amount-input:focus').waitFor();
  // Shortly after the last digit the page asks for prices, which must not remove the problem that Pay has shown.
  await page.evaluate('new Promise((passed) => setTimeout(passed, 400))');
  assert.equal(await page.locator('#amount-problem').textContent(), problem);
  assert.equal(new URL(page.url()).pathname, `/link/${linkId}`);
  await field(page).fill('1.00');
  await priced(page, '$1.002');
  await page.close();
});

test('a press on Pay counts, also when leaving the amount shows its problem between press and release', async () => {
  const { page } = await openPage(browser);
  await injectStub(page);
  await world.visit(page, `/link/${linkId}`);
  await page.locator('.wallet').click();
  await field(page).pressSequentially('1.0');
  await priced(page, '$1.002');
  await field(page).press('0');
  await field(page).press('0');
  await page.locator('#pay-button').hover();
  await page.mouse.down();
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  await page.mouse.up();
  await page
    .locator('#amount-problem')
    .getByText('This can be read as two amounts. Type 1,000.00 or 1.00.')
    .waitFor();
  await page.locator('#amount-input:focus').waitFor();
  await page.close();
});

test('leaving the field completes the amount, with group separators', async () => {
  const { page } = await openPage(browser, { locale: 'de' });
  await world.visit(page, `/link/${linkId}?lang=de`);
  await field(page).pressSequentially('1234567');
  assert.equal(await field(page).inputValue(), '1234567');
  await page.keyboard.press('Tab');
  assert.equal(await field(page).inputValue(), '1.234.567,00');
  await field(page).fill('1234,5');
  await page.keyboard.press('Tab');
  assert.equal(await field(page).inputValue(), '1.234,50');
  await page.close();
});

test('an amount pasted over an older one keeps its decimal separator', async () => {
  const { page } = await openPage(browser);
  await injectStub(page);
  await world.visit(page, `/link/${linkId}`);
  await page.locator('.wallet').click();
  await field(page).pressSequentially('0,5');
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Control+C');
  await page.keyboard.type('1000');
  await page.keyboard.press('Tab');
  assert.equal(await field(page).inputValue(), '1,000.00');
  await field(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Control+V');
  assert.equal(await field(page).inputValue(), '0,5');
  await page.locator('#pay-button').filter({ hasText: 'Pay 0.501 USDC' }).waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await field(page).inputValue(), '0.50');
  await field(page).fill('1,000.00');
  await field(page).fill('1,0000');
  const problem = 'This can be read as two amounts. Type 10,000.00 or 1.00.';
  await page.locator('#amount-problem').getByText(problem).waitFor();
  await page.close();
});

test('the range of the link is shown, and an amount outside that of the chosen token begins no session', async () => {
  const { page } = await openPage(browser);
  await injectStub(page);
  await world.visit(page, `/link/${linkId}`);
  await page.locator('.wallet').click();
  await field(page).fill('99999999999');
  await page.locator('#amount-problem').getByText('USDC on Ethereum accepts up to $10,000,000.00.').waitFor();
  await field(page).fill('');
  await chooseWay(page, 'USDC', 'Base');
  assert.equal(await page.locator('#amount-bounds').textContent(), 'up to $5,000.00');
  await field(page).pressSequentially('5001');
  const outside = 'USDC on Base accepts up to $5,000.00. Change the amount, or choose another token.';
  await page.locator('#amount-problem').getByText(outside).waitFor();
  assert.equal(await page.getByText('exactly this amount').count(), 0);
  await page.locator('#pay-button').click();
  await page.locator('#amount-input:focus').waitFor();
  await page.locator('#amount-problem').getByText(outside).waitFor();
  assert.equal(new URL(page.url()).pathname, `/link/${linkId}`);
  // The payer's choice stays, because another token accepts it.
  await page.locator('#way').getByText('USDC on Base').waitFor();
  await chooseWay(page, 'USDC', 'Ethereum');
  await page.locator('#amount-problem').getByText(outside).waitFor({ state: 'detached' });
  await page.locator('#pay-button').filter({ hasText: 'Pay 5,011.002 USDC' }).waitFor();
  await page.close();
});

test('without scripts amounts are read and refused in the same way', async () => {
  const { page } = await openPage(browser, { javaScriptEnabled: false });
  const begin = async (amount: string, lang: string) => {
    await page.goto(`${world.origin}/link/${linkId}?lang=${lang}`);
    await page.locator('#form-amount').fill(amount);
    await page.locator('form button').click();
  };
  await begin('1.000', 'en');
  await page.locator('#form-problem').getByText('Type 1,000.00 or 1.00.').waitFor();
  assert.equal(await page.locator('#form-amount').inputValue(), '1.000');
  await begin('50,000,000', 'en');
  await page.locator('#form-problem').getByText('up to $10,000,000.00').waitFor();
  assert.equal(await page.locator('#form-amount').inputValue(), '50,000,000');
  await begin('1,000', 'de');
  await page.locator('#form-problem').getByText('1.000,00 oder 1,00').waitFor();
  await begin('1,000', 'en');
  // The total with its fee, as the script shows it.
  await priced(page, '$1,002.00');
  await begin('1.000', 'de');
  await priced(page, '1.002,00 $');
  await begin('١٬٠٠٠٫٥٠', 'ar');
  await page.getByRole('heading', { level: 1, name: '1,002.501' }).waitFor();
  await page.close();
});
