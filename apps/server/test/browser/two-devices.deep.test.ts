import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { shorten } from '@florin/checkout';
import type { Browser, Page } from 'playwright-core';
import { Life } from '../life/life.ts';
import type { LifeChain } from '../life/life-chain.ts';
import { openChromium, openPage } from './chromium.ts';
import { TestWallet } from './test-wallet.ts';

let life: Life;
let browser: Browser;

before(async () => {
  browser = await openChromium();
  life = await Life.start();
  life.mine();
});
after(async () => {
  await browser.close();
  await life.close();
});

/** A payer on one device, whose wallet has 30 of a token, and whose other device can pay the same session. */
interface Device {
  readonly page: Page;
  readonly wallet: TestWallet;
  /** Clicks on Pay; `until` is what is then held. */
  readonly pay: () => Promise<void>;
  readonly balance: () => Promise<bigint>;
}

const notNeeded =
  'This payment has already been made. If your wallet still shows a request, reject it there.';
const asked = ({ wallet }: Device, method: string) => wallet.asked.filter((each) => each === method).length;
const says = ({ page }: Device, text: string) => page.locator('#problem').getByText(text).waitFor();

async function addSession(settlementToken: string): Promise<string> {
  const { accountId } = life;
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'Green tea',
    commonPrices: [7_000_000],
  });
  const { paymentUrl } = await life.post<{ paymentUrl: string }>('/session/checkout/create', {
    accountId,
    settlementToken,
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 7_000_000 }],
  });
  return paymentUrl;
}

/** A device on the page of a session, its wallet connected and funded in one token. */
async function open(
  url: string,
  chain: LifeChain,
  name: 'usdc' | 'usdt' | 'dai',
  options: { isApart?: boolean } = {},
): Promise<Device> {
  const token = chain.token(name);
  const wallet = new TestWallet([life.ethereum, life.base], { on: chain.chain.chainId });
  const units = 10n ** BigInt(token.decimals);
  await wallet.fund(chain, token, 30n * units);
  const { page } = await openPage(browser, options);
  await wallet.inject(page);
  await page.goto(url);
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.locator('#way').getByText(`You have 30.00 ${token.symbol}`).waitFor();
  const pay = () => page.locator('#pay-button').click();
  return {
    page,
    wallet,
    pay,
    balance: async () => (await chain.balanceOf(token, wallet.address)) / units,
  };
}

/** Pays the session on another device, by USDT on Ethereum, until the first device could know it. */
async function payElsewhere(url: string): Promise<void> {
  const other = await open(url, life.ethereum, 'usdt', { isApart: true });
  await other.pay();
  await other.page.locator('[data-status=completed]').waitFor();
  await other.page.context().close();
}

test('a payer who would be asked for an allowance while another device pays is asked for nothing', async () => {
  const url = await addSession('ethereum::usdt');
  const device = await open(url, life.ethereum, 'usdt');
  // No event reaches this device: the fresh look before the request has to tell.
  await device.page.route('**/events?*', (route) => route.abort());
  const held = device.wallet.hold('eth_chainId');
  await device.pay();
  await held.opened;
  await payElsewhere(url);
  held.answer();
  await says(device, notNeeded);
  assert.equal(asked(device, 'eth_sendTransaction'), 0);
  assert.equal(await device.page.locator('#pay-button').count(), 0);
  // Its wallet was not charged, and that stays so over a reload.
  await elsewhere(device.page).waitFor();
  await device.page.reload();
  await device.page.locator('[data-status=completed]').waitFor();
  await elsewhere(device.page).waitFor();
  await device.page.close();
});

test('a payer who gave an allowance before another device pays is not asked to pay, and sees that the allowance stays', async () => {
  const url = await addSession('ethereum::usdt');
  const device = await open(url, life.ethereum, 'usdt');
  const held = device.wallet.hold('eth_getTransactionReceipt');
  await device.pay();
  await held.opened;
  await payElsewhere(url);
  held.answer();
  await says(device, `${notNeeded} Your wallet still has an allowance of 7.00 USDT`);
  assert.equal(asked(device, 'eth_sendTransaction'), 1);
  assert.equal(await device.balance(), 30n);
  await device.page.close();
});

test('a payer whose prompt is open when another device pays is asked to reject it, and has nothing left to do', async () => {
  const url = await addSession('ethereum::usdt');
  const device = await open(url, life.ethereum, 'usdt');
  await device.wallet.approve(life.ethereum, life.ethereum.token('usdt'), 7_000_000n);
  const held = device.wallet.hold('eth_sendTransaction');
  await device.pay();
  await held.opened;
  await payElsewhere(url);
  await says(device, notNeeded);
  assert.equal(await device.page.locator('#pay-button').count(), 0);
  device.wallet.refused.add('eth_sendTransaction');
  held.answer();
  await device.page.locator('#problem').waitFor({ state: 'detached' });
  assert.equal(asked(device, 'eth_sendTransaction'), 1);
  await device.page.close();
});

test('a second payment on the same network is refused by the contract, and the page says that only gas was spent', async () => {
  const url = await addSession('ethereum::usdt');
  const device = await open(url, life.ethereum, 'usdt');
  await device.wallet.approve(life.ethereum, life.ethereum.token('usdt'), 7_000_000n);
  const held = device.wallet.hold('eth_sendTransaction');
  await device.pay();
  await held.opened;
  await payElsewhere(url);
  await says(device, notNeeded);
  held.answer();
  await says(device, 'The contract refused the second one, which cost you only the network fee.');
  assert.equal(await device.balance(), 30n);
  await device.page.close();
});

test('a second payment on another network goes back, and the page says so before and after', async () => {
  const url = await addSession('ethereum::usdt');
  const device = await open(url, life.base, 'dai');
  await device.wallet.approve(life.base, life.base.token('dai'), 7n * 10n ** 18n);
  const held = device.wallet.hold('eth_sendTransaction');
  await device.pay();
  await held.opened;
  await payElsewhere(url);
  await says(device, notNeeded);
  held.answer();
  await says(device, 'On another network the service sends it back');
  await life.eventually(device.balance, (amount) => amount === 30n, 'the second payment back');
  await device.page.close();
});

test('a signature given after another device has paid is not sent', async () => {
  const url = await addSession('ethereum::usdt');
  const device = await open(url, life.ethereum, 'usdc');
  const held = device.wallet.hold('eth_signTypedData_v4');
  let submits = 0;
  device.page.on('request', (request) => {
    if (request.url().includes('/submit')) submits += 1;
  });
  await device.pay();
  await held.opened;
  // No allowance is needed, and no step changes its number.
  assert.deepEqual(await device.page.locator('.stages .dot').allTextContents(), ['✓', '–', '3', '4', '5']);
  await payElsewhere(url);
  await says(device, notNeeded);
  held.answer();
  await says(device, notNeeded);
  assert.deepEqual([submits, await device.balance()], [0, 30n]);
  await device.page.close();
});

test('while the page does not know the state of the payment, it asks the wallet for nothing', async () => {
  const url = await addSession('ethereum::usdt');
  const device = await open(url, life.ethereum, 'usdt');
  await device.page.route('**/checkout/api/session/*', (route) => route.abort());
  await device.pay();
  await says(device, 'The page cannot check the state of the payment, so it stops here.');
  // The head has its name and its price.
  assert.equal(await device.page.getByText('Green tea').count(), 1);
  assert.equal(asked(device, 'eth_sendTransaction'), 0);
  for (const lost of ['**/events?*', '**/balances']) await device.page.route(lost, (route) => route.abort());
  await device.page.reload();
  await device.page.locator('#way').getByText('Balance unknown').waitFor();
  await device.page.locator('#connection').getByText('The connection is lost.').waitFor();
  await device.pay();
  await says(device, 'so it stops here.');
  // Once the connection is back, the page says so no longer, and knows the balance again.
  await device.page.unroute('**/balances');
  await device.page.unroute('**/checkout/api/session/*');
  await device.page.locator('#problem').getByText('so it stops here.').waitFor({ state: 'detached' });
  await device.page.locator('#way').getByText('You have 30.00 USDT').waitFor();
  await device.pay();
  await device.page.locator('[data-status=completed]').waitFor();
  await device.page.close();
});

test('a payer whose link ends in a wrong secret reads what to do, and can go on as a stranger', async () => {
  const url = (await addSession('ethereum::usdt')).replace(/#.*/, `#${'x'.repeat(22)}`);
  const words = 'This link is incomplete. Open it again from the shop or the e-mail.';
  const device = await open(url, life.ethereum, 'usdt');
  // Told at once, before the payer does anything.
  const other = await look(url);
  await other.locator('#problem').getByText(words).waitFor();
  await other.context().close();
  await device.pay();
  await here(device.page).waitFor();
  await device.page.goto(url.replace('#', '/claim#'));
  await device.page.locator('#read-problem').getByText(words).waitFor();
  await device.page.close();
});

/** The headings that say whose payment it was. */
const here = (page: Page) => page.getByRole('heading', { name: 'You paid 7.00 USDT' });
const elsewhere = (page: Page) => page.getByRole('heading', { name: /^7\.00 USDT paid to / });

/** The page of a session on a device without a wallet. */
async function look(url: string, options: { phone?: boolean } = {}): Promise<Page> {
  const { page } = await openPage(browser, { isApart: true, ...options });
  await page.goto(url);
  return page;
}

async function askForAddress(page: Page): Promise<string> {
  await page.locator('#by-address').check();
  const refund = page.locator('#refund-input');
  // The page remembers it.
  if ((await refund.inputValue()) === '') await refund.fill(new TestWallet([life.ethereum]).address);
  await page.locator('#show-deposit').click();
  return addressOn(page);
}

/** The address before the payer's eyes: a page that has hidden one keeps it until the service has, too. */
const addressOn = async (page: Page) =>
  (await page.locator('#deposit-address').filter({ visible: true }).textContent()) ?? '';

test('a phone that scans the code shows the address that the desktop asks for, what arrives there, and its end', async () => {
  const url = await addSession('ethereum::usdt');
  const desktop = await look(url);
  const phone = await look(url.split('#')[0] ?? '', { phone: true });
  await phone.locator('#by-address').waitFor();
  const address = await askForAddress(desktop);
  await phone.locator('#deposit').waitFor();
  assert.equal(await addressOn(phone), address);
  const exchange = new TestWallet([life.ethereum, life.base]);
  const usdt = life.ethereum.token('usdt');
  await exchange.fund(life.ethereum, usdt, 30_000_000n);
  await exchange.transfer(life.ethereum, usdt, { to: address, amount: 3_000_000n });
  for (const page of [desktop, phone])
    await page.locator('#deposit').getByText('Send 4.00 USDT more to the same address.').waitFor();
  // Another device asks for another address. Those with the secret then show the first one again; the phone has none.
  const other = await look(url);
  await other.getByRole('button', { name: 'Pay another way' }).click();
  assert.notEqual(await askForAddress(other), address);
  const again = (page: Page) => page.getByRole('button', { name: 'Show this address again' });
  for (const page of [desktop, phone, other]) await page.locator('#deposit .elsewhere').waitFor();
  assert.deepEqual([await again(desktop).count(), await again(phone).count()], [1, 0]);
  await again(other).click();
  for (const page of [desktop, phone, other])
    await page.locator('#deposit-address').getByText(address, { exact: true }).waitFor();
  await other.locator('#deposit').getByText('Send 4.00 USDT more to the same address.').waitFor();
  // The payer knows what the payer's own press changed.
  assert.equal(await other.getByText('changed on another device').count(), 0);
  await other.context().close();
  await phone.locator('#copy-address').focus();
  await desktop.getByRole('button', { name: 'Pay another way' }).click();
  for (const page of [desktop, phone]) {
    await page.locator('#by-address').waitFor();
    // Neither a press nor news from the other device loses the place of a reader who uses keys.
    await page.locator('main :focus').waitFor();
  }
  // With no address on the page, the first one is still one press away.
  await desktop.getByText(`The address ends in ${address.slice(-4)}.`).waitFor();
  await again(desktop).click();
  for (const page of [desktop, phone])
    await page.locator('#deposit-address').getByText(address, { exact: true }).waitFor();
  await exchange.transfer(life.ethereum, usdt, { to: address, amount: 4_000_000n });
  for (const page of [desktop, phone]) await page.locator('[data-status=completed]').waitFor();
  // Only a page with the secret knows that its reader paid.
  await Promise.all([here(desktop).waitFor(), elsewhere(phone).waitFor()]);
  await Promise.all([desktop.context().close(), phone.context().close()]);
});

test('a payer whose address another device replaces is told so, and what is sent to the first one still pays', async () => {
  const url = await addSession('ethereum::usdt');
  const [first, second] = [await look(url), await look(url, { phone: true })];
  const address = await askForAddress(first);
  await second.getByRole('button', { name: 'Pay another way' }).click();
  const end = address.slice(-4);
  const told = `The way to pay was changed on another device. A payment to the address that ends in ${end} still counts.`;
  await first.getByRole('alert').getByText(told).waitFor();
  assert.notEqual(await askForAddress(second), address);
  await first.locator('#deposit').waitFor();
  await first.getByRole('alert').getByText(told).waitFor();
  await first.reload();
  await first.getByRole('alert').getByText(told).waitFor();
  assert.equal(await second.getByText(told).count(), 0);
  const exchange = new TestWallet([life.ethereum, life.base]);
  const usdt = life.ethereum.token('usdt');
  await exchange.fund(life.ethereum, usdt, 30_000_000n);
  await exchange.transfer(life.ethereum, usdt, { to: address, amount: 7_000_000n });
  for (const page of [first, second]) {
    await page.locator('[data-status=completed]').waitFor();
    // An exchange sent it: the chain's payer is where the money would have gone back to.
    const receipt = page.getByRole('region', { name: 'Receipt' });
    await receipt.getByText('Refund address').waitFor();
    assert.equal(await receipt.getByText('Paid by').count(), 0);
  }
  await Promise.all([first.context().close(), second.context().close()]);
});

test('a stranger with the plain link sets no address before the payer’s eyes, and hides none', async () => {
  const url = await addSession('ethereum::usdt');
  const desktop = await look(url);
  const stranger = await look(url.split('#')[0] ?? '');
  const theirs = await askForAddress(stranger);
  const own = await askForAddress(desktop);
  assert.notEqual(own, theirs);
  // Each keeps its own, also over a reload.
  for (const [page, expected] of [
    [stranger, theirs],
    [desktop, own],
  ] as const) {
    await page.reload();
    await page.locator('#deposit').waitFor();
    assert.equal(await addressOn(page), expected);
  }
  // What the stranger sends is not the owner's: what follows there would go back to the stranger.
  const usdt = life.ethereum.token('usdt');
  const exchange = new TestWallet([life.ethereum, life.base]);
  await exchange.fund(life.ethereum, usdt, 20_000n);
  await exchange.transfer(life.ethereum, usdt, { to: theirs, amount: 20_000n });
  await stranger.locator('#deposit').getByText('0.02 USDT has arrived.').waitFor();
  const owner = await look(url);
  for (const page of [desktop, owner]) {
    await page.locator('#deposit').waitFor();
    assert.equal(await page.getByText('0.02 USDT').count(), 0);
    assert.equal(await page.getByText(theirs.slice(-4)).count(), 0);
  }
  await owner.goto(url.replace('#', '/claim#'));
  await owner.getByText(own).waitFor();
  assert.equal(await owner.getByText(shorten(theirs)).isVisible(), false);
  await owner.getByText('Other addresses, perhaps not yours: 1').click();
  await owner.getByText(shorten(theirs)).waitFor();
  assert.equal(await owner.getByText(theirs).count(), 0);
  await owner.context().close();
  await stranger.getByRole('button', { name: 'Pay another way' }).click();
  await stranger.locator('#by-address').waitFor();
  await desktop.reload();
  assert.equal(await addressOn(desktop), own);
  const sessionId = /sess_\w+/.exec(url)?.[0];
  const secret = new URL(url).hash.slice(1);
  for (const [how, clientCode, code] of [
    ['hide', '', 100_202],
    ['hide', 'x'.repeat(22), 100_202],
    ['again', '', 100_202],
    ['again', 'x'.repeat(22), 100_202],
    // Not even the owner gets the stranger's address, or one without money.
    ['again', secret, 400_101],
  ] as const) {
    const response = await fetch(`${life.options.origin}/checkout/api/deposit/${how}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(clientCode === '' ? {} : { 'x-client-code': clientCode }),
      },
      body: JSON.stringify({ sessionId, ...(how === 'again' ? { end: theirs.slice(-4) } : {}) }),
    });
    assert.equal(((await response.json()) as { code: number }).code, code, `${how} ${clientCode}`);
  }
  await desktop.reload();
  assert.equal(await addressOn(desktop), own);
  // Once the owner has paid, the stranger's money is told apart on the owner's page alone.
  await exchange.fund(life.ethereum, usdt, 7_000_000n);
  await exchange.transfer(life.ethereum, usdt, { to: own, amount: 7_000_000n });
  for (const page of [desktop, stranger]) {
    await page.locator('[data-status=completed]').getByText('0.02 USDT').waitFor();
    const alien = page.getByText('This money came from another wallet or device.');
    assert.equal(await alien.isVisible(), page === desktop);
  }
  await Promise.all([desktop.context().close(), stranger.context().close()]);
});
