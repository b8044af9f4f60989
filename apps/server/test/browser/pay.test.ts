import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { shorten } from '@florin/checkout';
import { buildPages } from '@florin/dashboard/build';
import type { Page } from 'playwright-core';
import { dashboardOriginOf } from '#members/dashboard-origin.ts';
import { invitationUrl, invite } from '#members/invitation.ts';
import { createMerchant } from '#merchants/merchant.ts';
import { password } from '../harness/dashboard-world.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { type Complaints, openPage } from './chromium.ts';
import { EthersWallet } from './ethers-wallet.ts';
import { keepSpoken } from './spoken.ts';
import { addLink, browser, life, paid, sessionIdOf, useTeaShop, visit } from './tea-shop.ts';
import { TestWallet } from './test-wallet.ts';

/** `pay.deep.test.ts` has the further ways to pay. */

before(buildPages);
/** The dashboard needs no certificate there. */
const environment = 'local';
useTeaShop({ environment });

/** The only texts that a payment without gas speaks, by their beginnings, in this order. */
const spokenStates = [
  ...[
    'Preparing the payment',
    'Confirm the switch to Base',
    'Sign in your wallet',
    'The service sends your payment',
  ],
  ...[
    'Payment seen',
    'You paid 25.05 USDC to Story Shop Paid The',
    'You paid 25.05 USDC to Story Shop Paid, on',
  ],
  'You paid 25.05 USDC to Story Shop Paid and received',
];

test('a link is paid by one signature without gas, from the first page to the receipt', async () => {
  const successUrl = 'https://shop.example/thanks?s={SESSION_ID}';
  const { linkUrl } = await addLink({ feeModel: 2, settlementToken: 'base::usdc', successUrl });
  const wallet = new EthersWallet([life.ethereum, life.base], { on: 31_337, known: [31_337] });
  await life.base.mint(life.base.token('usdc'), wallet.address, 100_000_000n);
  const { page, complaints } = await openPage(browser, { phone: true });
  await wallet.inject(page);
  await page.goto(linkUrl);
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 100.00 USDC').waitFor();
  const spokenOn = await keepSpoken(page);
  await page.getByRole('button', { name: /^Pay 25\.05 USDC/ }).click();
  await paid(page);
  // No state is spoken twice; a quick chain may skip one.
  const spoken = await spokenOn();
  const states = spoken.filter((text) => !text.startsWith('You go back to'));
  const places = states.map((text) => spokenStates.findIndex((state) => text.startsWith(state)));
  assert.deepEqual(places, [...new Set(places)].sort(), spoken.join('\n'));
  assert.ok(!places.includes(-1) && places.includes(7), spoken.join('\n'));
  // No allowance was asked for, and every other step is done.
  assert.deepEqual(await page.locator('.stages .dot').allTextContents(), ['✓', '–', '✓', '✓', '✓']);
  // The button that had the focus is gone, and the state of the payment has it.
  await page.locator('#status:focus').waitFor();
  await page.getByText('You go back to shop.example in five seconds.').waitFor();
  await page.getByRole('button', { name: 'Stay here' }).click();
  await page.locator('#continue:focus').waitFor();
  const { session, transaction } = await life.session(sessionIdOf(page));
  assert.deepEqual(
    [session.status, session.payer.toLowerCase(), transaction?.totalValue, transaction?.netValue],
    ['completed', wallet.address.toLowerCase(), 25_050_000, 25_000_000],
  );
  assert.equal(
    await page.locator('#continue').getAttribute('href'),
    `https://shop.example/thanks?s=${session.sessionId}&florin_status=paid`,
  );
  assert.equal(await page.getByText('Thank you, tea friend!').count(), 1);
  assert.deepEqual(
    ['wallet_addEthereumChain', 'eth_signTypedData_v4', 'eth_sendTransaction'].map((method) =>
      wallet.asked.includes(method),
    ),
    [true, true, false],
  );
  assert.deepEqual(complaints.errors, []);
  const { origin } = life.options;
  // Who has the link without its secret sees enough to compare, and not whose wallet it was.
  for (const path of ['', '/api/session']) {
    const plain = await (await fetch(`${origin}/checkout${path}/${session.sessionId}`)).text();
    assert.equal(plain.toLowerCase().includes(wallet.address.toLowerCase()), false);
    assert.ok(plain.toLowerCase().includes(shorten(wallet.address).toLowerCase()));
  }
  const elsewhere = complaints.urls.filter(
    (url) => !url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url),
  );
  assert.deepEqual(elsewhere, []);
  const code = new URL(page.url()).hash.slice(1);
  assert.equal(code.length, 22);
  assert.deepEqual(
    complaints.urls.filter((url) => url.split('#', 1)[0]?.includes(code)),
    [],
  );
  await page.close();
});

test('a page that is reloaded right after paying waits, and offers no second payment', async () => {
  const { page, wallet } = await visit(await addLink());
  await life.ethereum.mint(life.ethereum.token('usdc'), wallet.address, 30_000_000n);
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await life.pauseMining();
  await page.locator('#pay-button').click();
  const waits = () => page.locator('#step').filter({ hasText: 'The service sends your payment' }).waitFor();
  await waits();
  await page.reload();
  await waits();
  assert.deepEqual(
    [await page.locator('.wallet').count(), await page.locator('#pay-button').count()],
    [0, 0],
  );
  life.mine();
  await paid(page);
  assert.equal((await life.session(sessionIdOf(page))).session.status, 'completed');
  await page.close();
});

/** A new merchant, and the link that makes its first owner. */
async function invitedMerchant(): Promise<string> {
  return life.database.db.transaction(async (transaction) => {
    const { merchantId } = await createMerchant(transaction, life.options, { merchantName: 'Tea & Co' });
    const request = { merchantId, role: 'owner', email: '', invitedBy: '' } as const;
    const { token: secret } = await invite(transaction, life.options, request);
    return invitationUrl(`${dashboardOriginOf({ ...life.options, environment })}/dashboard`, secret);
  });
}

/** The window of a merchant who has just followed its invitation. The next test goes on in it. */
let merchant: { wallet: TestWallet; page: Page; complaints: Complaints } | undefined;
after(() => merchant?.page.context().close());

const faultsOf = ({ errors }: Complaints) =>
  errors.filter((text) => !text.startsWith('Failed to load resource'));

test('an invited merchant makes an account, and is at home in the dashboard', async () => {
  const wallet = new TestWallet([life.ethereum], { name: 'Merchant Wallet' });
  merchant = { wallet, ...(await openPage(browser, { isApart: true })) };
  const { page } = merchant;
  await wallet.inject(page);
  await page.goto(await invitedMerchant());
  await page.getByLabel('Your name').fill('Tessa');
  await page.getByLabel('E-mail').fill('tessa@example.com');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Create the account' }).click();
  await page.getByLabel('I have kept the codes').check();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('link', { name: 'Add a wallet' }).waitFor();
  assert.deepEqual(faultsOf(merchant.complaints), []);
});

test(
  'an invited merchant makes a wallet, a product and a link, and sees its first payment settled',
  deepOnly,
  async () => {
    assert.ok(merchant !== undefined, 'the test before has made the account');
    const { page, wallet, complaints } = merchant;
    await page.getByRole('link', { name: 'Add a wallet' }).click();
    await page.getByRole('button', { name: 'Add a wallet' }).first().click();
    await page.getByLabel('Name').fill('Till');
    await page.getByRole('button', { name: 'Take it from my browser wallet' }).click();
    await page.getByRole('button', { name: 'Sign the proof' }).click();
    await page.getByText('The wallet signed').waitFor();
    await page.getByLabel('USDC on Ethereum').check();
    await page.getByRole('button', { name: 'Add the wallet' }).click();
    await page.getByRole('link', { name: /^Till/ }).waitFor();

    await page.getByRole('link', { name: 'Home' }).first().click();
    await page.getByRole('link', { name: 'Add a product' }).click();
    await page.getByRole('button', { name: 'Create a product' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Green tea');
    await page.getByLabel('Price 1').fill('12.50');
    await page.getByRole('button', { name: 'Create the product' }).click();
    await page.getByText('Product created').first().waitFor();

    await page.getByRole('link', { name: 'Home' }).first().click();
    await page.getByRole('link', { name: 'Make a link' }).click();
    await page.getByRole('button', { name: 'Create a link' }).first().click();
    await page.getByLabel('Product', { exact: true }).selectOption({ label: 'Green tea ($12.50)' });
    await page.getByRole('button', { name: 'Create the link' }).click();
    const linkUrl = await page.getByLabel('Address of the link').inputValue();
    assert.match(
      await page.getByLabel('Code for your site').inputValue(),
      new RegExp(`<florin-button link="${linkUrl.split('/').at(-1)}">`),
    );

    const payer = new TestWallet([life.ethereum], { name: 'Payer Wallet' });
    const usdc = life.ethereum.token('usdc');
    await payer.fund(life.ethereum, usdc, 20_000_000n);
    const visitor = await openPage(browser, { phone: true });
    await payer.inject(visitor.page);
    await visitor.page.goto(linkUrl);
    await visitor.page.getByRole('button', { name: 'Payer Wallet' }).click();
    await visitor.page.getByRole('button', { name: /^Pay 12\.50 USDC/ }).click();
    await visitor.page.locator('[data-status=completed]').waitFor();

    await page.getByRole('link', { name: 'Payments' }).first().click();
    await page
      .getByRole('row', { name: /12\.50/ })
      .getByText('Settled')
      .waitFor();
    // The fee of 0.2 % is the operator's.
    assert.equal(await life.ethereum.balanceOf(usdc, wallet.address), 12_475_000n);
    assert.deepEqual(faultsOf(complaints), []);
    await visitor.page.close();
  },
);
