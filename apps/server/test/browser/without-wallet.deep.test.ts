import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Browser, Page } from 'playwright-core';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import type { ServiceOptions } from '../../src/service/options.ts';
import { startService } from '../../src/service/service.ts';
import { Life } from '../life/life.ts';
import { openChromium, openPage } from './chromium.ts';
import { readCode } from './read-code.ts';
import { TestWallet } from './test-wallet.ts';

let life: Life;
let browser: Browser;
let usdc: Token;
/** The local world's payer for visitors without a wallet. */
let demoPayer: Hex;

before(async () => {
  const demoPayerKey = generatePrivateKey();
  demoPayer = privateKeyToAddress(demoPayerKey);
  const start = (options: ServiceOptions) => startService({ ...options, demoPayerKey });
  browser = await openChromium();
  life = await Life.start(start);
  usdc = life.ethereum.token('usdc');
  life.mine();
});
after(async () => {
  await browser.close();
  await life.close();
});

interface Visit {
  readonly page: Page;
  /** A wallet that the page knows nothing of, such as an exchange's. */
  readonly elsewhere: TestWallet;
  readonly sessionId: string;
  readonly address: string;
}

const address = (page: Page) => page.locator('#deposit-address');
const send = ({ elsewhere, address: to }: Visit, amount: bigint) =>
  elsewhere.transfer(life.ethereum, usdc, { to, amount });

/** Waits until the service has seen money of a session that pays nothing. */
async function noticed({ sessionId }: Visit): Promise<void> {
  const list = () => life.get<{ exceptions: { sessionId: string }[] }>('/exception/list/1/100');
  const isThere = ({ exceptions }: Awaited<ReturnType<typeof list>>) =>
    exceptions.some((exception) => exception.sessionId === sessionId);
  await life.eventually(list, isThere, `an exception of ${sessionId}`);
}

/** The clock of the page's device is two hours fast: the session of half an hour would be over by it. */
function setClockWrong(): void {
  const { now } = Date;
  const wrongMs = 7_200_000;
  Date.now = () => now() + wrongMs;
}

/** A payer without a wallet, on a phone with a wrong clock, who has been told where to send 25 USDC. */
async function visit(changes: object = {}): Promise<Visit> {
  const elsewhere = new TestWallet([life.ethereum, life.base]);
  await elsewhere.fund(life.ethereum, usdc, 60_000_000n);
  const { page } = await openPage(browser, { phone: true });
  await page.addInitScript(setClockWrong);
  await page.goto(await addLink(changes));
  await page.locator('#by-address').check();
  // One character in the wrong case breaks the checksum, and begins no session.
  const typo = elsewhere.address.replace(/[a-f]/i, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
  await page.locator('#refund-input').fill(typo);
  await page.getByRole('button', { name: 'Show deposit address' }).click();
  await page.locator('#problem').getByText('Check this address for a typo.').waitFor();
  assert.equal(await page.locator('#refund-input').getAttribute('aria-invalid'), 'true');
  assert.match(new URL(page.url()).pathname, /^\/link\//);
  await page.locator('#refund-input').fill(elsewhere.address);
  await page.getByRole('button', { name: 'Show deposit address' }).click();
  await address(page).waitFor();
  assert.match((await page.locator('#time').textContent()) ?? '', /^(30:0\d|29:\d\d)$/);
  await page.locator('#deposit:focus').waitFor();
  const sessionId = /\/checkout\/(sess_\w+)/.exec(page.url())?.[1] ?? '';
  return { page, elsewhere, sessionId, address: (await address(page).textContent()) ?? '' };
}

async function addLink(changes: object = {}): Promise<string> {
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'Green tea',
    commonPrices: [25_000_000],
  });
  const { linkUrl } = await life.post<{ linkUrl: string }>('/payment/link/create', {
    linkType: 'fixed',
    linkName: 'Tea shop',
    accountId: life.accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 25_000_000 }],
    ...changes,
  });
  return linkUrl;
}

/** The browser keeps no data for the site: both storages throw at the first look, as Chromium's do. */
function refuseStorage(): void {
  const get = () => {
    throw new DOMException('Access is denied for this document.', 'SecurityError');
  };
  for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(globalThis, name, { configurable: true, get });
}

test('a browser that keeps no data for the site shows where to send the money, too', async () => {
  const elsewhere = new TestWallet([life.ethereum]);
  const { page } = await openPage(browser, { phone: true });
  await page.addInitScript(refuseStorage);
  await page.goto(await addLink());
  await page.locator('#by-address').check();
  await page.locator('#refund-input').fill(elsewhere.address);
  await page.getByRole('button', { name: 'Show deposit address' }).click();
  await address(page).waitFor();
  await page.close();
});

test('a payer who sends too little sees the rest, even after a reload or elsewhere, and any surplus goes back', async () => {
  const visitor = await visit();
  const { page, elsewhere } = visitor;
  await send(visitor, 10_000_000n);
  const rest = '10.00 USDC has arrived. Send 15.00 USDC more to the same address.';
  await page.locator('#deposit').getByText(rest).waitFor();
  await page.reload();
  await page.locator('#deposit').getByText(rest).waitFor();
  assert.equal(await address(page).textContent(), visitor.address);
  assert.equal(await page.locator('#by-address').count(), 0);
  // The panel says it, so the state does not repeat it.
  assert.equal(await page.locator('#status .arrived').isVisible(), false);
  // Another browser, which has only the link, and never asked for the address.
  const other = await openPage(browser, { isApart: true });
  await other.page.goto(`${life.options.origin}/checkout/${visitor.sessionId}`);
  const panel = other.page.locator('#deposit');
  await panel.getByText(rest).waitFor();
  await panel.getByText('Only on the Ethereum network').waitFor();
  assert.equal(await address(other.page).textContent(), visitor.address);
  await send(visitor, 18_000_000n);
  for (const each of [page, other.page])
    await each.getByText('3.00 USDC was too much. It goes back').waitFor();
  await page.locator('[data-status=completed]').waitFor();
  await page.getByText('3.00 USDC was too much and went back.').waitFor();
  await other.page.locator('[data-status=completed]').waitFor();
  assert.equal(await other.page.getByText(rest).count(), 0);
  await other.page.context().close();
  assert.equal(await life.ethereum.balanceOf(usdc, elsewhere.address), 35_000_000n);
  assert.equal((await life.session(visitor.sessionId)).transaction?.totalValue, 25_000_000);
  assert.equal(await address(page).count(), 0);
  await page.close();
});

test('a second device sees what has arrived at the first one’s address, and the merchant sees both deposits', async () => {
  const first = await visit();
  await send(first, 3_000_000n);
  const panel = first.page.locator('#deposit');
  await panel.getByText('3.00 USDC has arrived. Send 22.00 USDC more to the same address.').waitFor();
  const { page } = await openPage(browser, { isApart: true });
  await page.goto(`${life.options.origin}/checkout/${first.sessionId}`);
  await page.getByRole('button', { name: 'Pay another way' }).click();
  await page.getByText(`The address ends in ${first.address.slice(-4)}.`).waitFor();
  await page
    .getByText('If you pay another way instead, you pay the whole price. The 3.00 USDC then')
    .waitFor();
  // A device without the secret has only hidden the address, and shows it again.
  const again = page.getByRole('button', { name: 'Show this address again' });
  await again.click();
  await address(page).getByText(first.address, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Pay another way' }).click();
  await page.locator('#by-address').check();
  const elsewhere = new TestWallet([life.ethereum, life.base]);
  await elsewhere.fund(life.ethereum, usdc, 60_000_000n);
  await page.locator('#refund-input').fill(elsewhere.address);
  await page.getByRole('button', { name: 'Show deposit address' }).click();
  await page
    .locator('#deposit')
    .getByText(
      `3.00 USDC has already arrived at another address, which ends in ${first.address.slice(-4)}. ` +
        'To complete that payment, send 22.00 USDC more to that address.',
    )
    .waitFor();
  await page.getByText('If you send to the address below instead, send the whole 25.00 USDC.').waitFor();
  const second = {
    page,
    elsewhere,
    sessionId: first.sessionId,
    address: (await address(page).textContent()) ?? '',
  };
  assert.notEqual(second.address, first.address);
  await page.reload();
  // First the page has the session's address with a button of the same name.
  await address(page).getByText(second.address, { exact: true }).waitFor();
  await again.click();
  await address(page).getByText(first.address, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Pay another way' }).click();
  await page.locator('#by-address').check();
  await page.getByRole('button', { name: 'Show deposit address' }).click();
  await address(page).getByText(second.address, { exact: true }).waitFor();
  await send(second, 5_000_000n);
  await page
    .locator('#deposit')
    .getByText('5.00 USDC has arrived. Send 20.00 USDC more to the same address.')
    .waitFor();
  // Whoever has the plain link may have asked for the second address, so the first device hears only that there is money.
  await first.page
    .getByText(
      `5.00 USDC has arrived at an address that ends in ${second.address.slice(-4)} and was asked for`,
    )
    .waitFor();
  assert.equal(await first.page.getByText(second.address).count(), 0);
  const { deposits } = await life.get<{ deposits: { addressEnd: string; amountInToken: string }[] }>(
    `/session/${first.sessionId}`,
  );
  assert.deepEqual(
    new Set(deposits.map(({ addressEnd, amountInToken }) => `${addressEnd} ${amountInToken}`)),
    new Set([`${first.address.slice(-4)} 3000000`, `${second.address.slice(-4)} 5000000`]),
  );
  await send(second, 20_000_000n);
  await page.locator('[data-status=completed]').waitFor();
  await page.context().close();
  await first.page.close();
});

test('the refund address is remembered in this browser, and a connected wallet’s is offered in another', async () => {
  const { page, elsewhere } = await visit();
  const next = await page.context().newPage();
  await next.goto(await addLink());
  await next.locator('#by-address').check();
  assert.equal(await next.locator('#refund-input').inputValue(), elsewhere.address);
  const other = await openPage(browser, { isApart: true });
  const wallet = new TestWallet([life.ethereum, life.base]);
  await wallet.inject(other.page);
  await other.page.goto(await addLink());
  await other.page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await other.page.locator('#way').waitFor();
  await other.page.locator('#pay-button').waitFor();
  await other.page.locator('#by-address').check();
  assert.equal(await other.page.locator('#refund-input').inputValue(), wallet.address.toLowerCase());
  await other.page.context().close();
  await Promise.all([next.close(), page.close()]);
});

test('a camera reads the address, and for wallets the whole transfer, from the codes under their signs', async () => {
  const { page, address: own } = await visit();
  const code = page.locator('.code');
  assert.equal(await readCode(code), own);
  await page.locator('#code-wallet').check();
  await page.locator('.wallet-code').first().waitFor();
  const uri = (await page.locator('#open-wallet').getAttribute('href')) ?? '';
  assert.equal(await readCode(code), uri);
  // EIP-681: the token and its chain, the function, and its arguments.
  const read =
    /^ethereum:(0x[0-9a-fA-F]{40})@([0-9]+)\/transfer\?address=(0x[0-9a-fA-F]{40})&uint256=([0-9]+)$/;
  const [, token = '', ...rest] = read.exec(uri) ?? [];
  assert.deepEqual(
    [token.toLowerCase(), ...rest],
    [usdc.address.toLowerCase(), String(usdc.chainId), own, '25000000'],
  );
  await page.close();
});

test('another tab shows the same address, and closing the panel shows all ways to pay again in both', async () => {
  const { page, address: own } = await visit();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.locator('#deposit').waitFor();
  assert.equal(await address(other).textContent(), own);
  await page.getByRole('button', { name: 'Pay another way' }).click();
  await page.locator('#by-address').waitFor();
  await other.locator('#by-address').waitFor();
  await page.reload();
  await page.locator('#by-address').waitFor();
  assert.equal(await address(page).count(), 0);
  await Promise.all([page.close(), other.close()]);
});

test('a deposit for a session that a wallet has paid meanwhile goes back, and the page says so', async () => {
  const visitor = await visit();
  const { page, elsewhere } = visitor;
  const wallet = new TestWallet([life.ethereum, life.base]);
  await wallet.fund(life.ethereum, usdc, 30_000_000n);
  const other = await openPage(browser, { isApart: true });
  await wallet.inject(other.page);
  await other.page.goto(page.url());
  await other.page.getByRole('button', { name: 'Pay another way' }).click();
  await other.page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await other.page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await other.page.locator('#pay-button').click();
  for (const each of [page, other.page]) await each.locator('[data-status=completed]').waitFor();
  await send(visitor, 25_000_000n);
  await noticed(visitor);
  await other.page.reload();
  await other.page.getByText('25.00 USDC was not needed for the payment and went back.').waitFor();
  assert.equal(await life.ethereum.balanceOf(usdc, elsewhere.address), 60_000_000n);
  await Promise.all([page.close(), other.page.context().close()]);
});

test('a payer whose wallet pays the whole price after a part is told so before and after, and stays on the page', async () => {
  const visitor = await visit({ successUrl: 'https://shop.example/thanks' });
  const { page, elsewhere } = visitor;
  const wallet = new TestWallet([life.ethereum, life.base]);
  await wallet.fund(life.ethereum, usdc, 30_000_000n);
  await send(visitor, 10_000_000n);
  await page.locator('#deposit').getByText('10.00 USDC has arrived.').waitFor();
  const other = await openPage(browser, { isApart: true });
  await wallet.inject(other.page);
  await other.page.goto(page.url());
  await other.page.getByRole('button', { name: 'Pay another way' }).click();
  await other.page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await other.page.locator('#pay-button').getByText('Pay 25.00 USDC').waitFor();
  await other.page.getByText('If you pay another way instead, you pay the whole price.').waitFor();
  assert.equal(await other.page.getByText('exactly this amount').count(), 0);
  await other.page.locator('#pay-button').click();
  await other.page.getByText('10.00 USDC was not needed for the payment. It goes back').waitFor();
  await other.page.locator('[data-status=completed]').waitFor();
  await other.page.getByRole('link', { name: 'Continue to shop.example' }).waitFor();
  assert.equal(await other.page.locator('.leave').count(), 0);
  await other.page.getByText('10.00 USDC was not needed for the payment and went back.').waitFor();
  assert.equal(await life.ethereum.balanceOf(usdc, elsewhere.address), 60_000_000n);
  await Promise.all([page.close(), other.page.context().close()]);
});

test('in the local world the demo payer pays, and the page shows the complete payment', async () => {
  await life.ethereum.anvil.request('anvil_setBalance', [demoPayer, '0x56bc75e2d63100000']);
  await life.ethereum.mint(usdc, demoPayer, 40_000_000n);
  const { page } = await openPage(browser);
  await page.goto(await addLink());
  await page.getByRole('button', { name: 'Demo payer (local world)' }).click();
  await page.locator('#way').getByText('You have 40.00 USDC').waitFor();
  await page.getByRole('button', { name: /^Pay 25\.00 USDC/ }).click();
  await page.locator('[data-status=completed]').waitFor();
  assert.equal(await life.ethereum.balanceOf(usdc, demoPayer), 15_000_000n);
  await page.close();
});

// Last: it moves the chain's time past the deadline of every order there is.
test('a late deposit goes back, and the page says so', async () => {
  const visitor = await visit();
  const { page, elsewhere } = visitor;
  await life.ethereum.anvil.request('evm_increaseTime', [7_200]);
  await page.locator('[data-status=expired]').getByText('Money that arrives now goes back').waitFor();
  await page.getByRole('link', { name: 'How money goes back' }).waitFor();
  await send(visitor, 25_000_000n);
  await noticed(visitor);
  await page.reload();
  await page.getByText('25.00 USDC came too late and went back.').waitFor();
  assert.equal(await life.ethereum.balanceOf(usdc, elsewhere.address), 60_000_000n);
  await page.close();
});
