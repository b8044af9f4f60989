import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { shorten } from '@florin/checkout';
import { depositWayOf, type PreparedOrder } from '@florin/protocol/checkout-order.ts';
import type { ExceptionPolicy } from '@florin/protocol/exception-policy.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Browser, Page } from 'playwright-core';
import { Life } from '../life/life.ts';
import { Payer } from '../life/payer.ts';
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

interface Prepared {
  readonly sessionId: string;
  readonly clientCode: string;
  readonly address: Hex;
  readonly orderId: string;
}

async function ask<Data>(path: string, body: unknown, clientCode = ''): Promise<Data> {
  const response = await fetch(`${life.options.origin}/checkout/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(clientCode && { 'x-client-code': clientCode }) },
    body: JSON.stringify(body),
  });
  const reply = (await response.json()) as { code: number; data: Data };
  assert.equal(reply.code, 0, JSON.stringify(reply));
  return reply.data;
}

/** A deposit address for 25 USD of a chain's USDC. Excess money goes to `refundAddress`. */
async function prepare(
  tokenId: string,
  refundAddress: string,
  exceptionPolicy: ExceptionPolicy,
): Promise<Prepared> {
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'Green tea',
    commonPrices: [25_000_000],
  });
  const link = await life.post<{ linkId: string; versionCode: string }>('/payment/link/create', {
    linkType: 'fixed',
    linkName: 'Tea shop',
    accountId: life.accountId,
    settlementToken: tokenId,
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, unitPrice: 25_000_000 }],
    exceptionPolicy,
  });
  const { state, clientCode } = await ask<{ state: { sessionId: string }; clientCode: string }>('/session', {
    linkId: link.linkId,
    linkVersion: link.versionCode,
  });
  const { sessionId } = state;
  const body = { sessionId, payer: refundAddress, tokenId, payerEmail: '' };
  const deposit = depositWayOf(await ask<PreparedOrder>('/prepare', body, clientCode));
  const page = await (await fetch(`${life.options.origin}/checkout/${sessionId}/claim`)).text();
  const orderId = /"orderId":"(0x[0-9a-f]{64})"/.exec(page)?.[1] ?? '';
  return { sessionId, clientCode, orderId, address: (deposit?.address ?? '0x') as Hex };
}

const claimUrl = ({ sessionId, clientCode }: Prepared) =>
  `${life.options.origin}/checkout/${sessionId}/claim#${clientCode}`;

async function sendBack(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Send it back with Test Wallet' }).click();
  await page.getByText('It is back once').waitFor();
  // The page waits for the block.
  await page.locator('button:enabled', { hasText: 'Show what is there' }).waitFor();
}

test('any wallet can send coins back that were sent to a deposit address by mistake, only to the refund address', async () => {
  const named = new Payer(life).address;
  const prepared = await prepare('ethereum::usdc', named, {});
  await life.ethereum.anvil.request('anvil_setBalance', [prepared.address, '0x6f05b59d3b20000']);
  const wallet = new TestWallet([life.ethereum, life.base], { on: 31_338 });
  await life.ethereum.anvil.request('anvil_setBalance', [wallet.address, '0x56bc75e2d63100000']);
  const { page, complaints } = await openPage(browser, { phone: true });
  await wallet.inject(page);
  await page.goto(claimUrl(prepared));
  // With the session's secret the addresses are whole.
  for (const whole of [named, prepared.address]) await page.getByText(whole).waitFor();
  await page.getByRole('button', { name: 'Show what is there' }).click();
  await page.getByText('This address has none of it.').waitFor();
  await page.getByLabel('What was sent').selectOption({ label: 'The network’s own coin' });
  await page.getByRole('button', { name: 'Show what is there' }).click();
  await page.getByText('0.50 ETH is there.').waitFor();
  wallet.refused.add('eth_sendTransaction');
  await page.getByRole('button', { name: 'Send it back with Test Wallet' }).click();
  await page.getByText('You declined in your wallet.').waitFor();
  wallet.refused.clear();
  for (const [method, code, words] of [
    ['eth_requestAccounts', -32_002, 'Your wallet has another request open. Answer that one first.'],
    ['eth_requestAccounts', 4900, 'Your wallet is no longer connected. Connect it again.'],
    ['eth_sendTransaction', -32_601, 'This wallet cannot send from this page. Use another wallet.'],
    ['eth_sendTransaction', 4901, 'Switch your wallet to Ethereum, then try again.'],
    [
      'eth_sendTransaction',
      -32_000,
      'Your wallet reports an error. If it has sent nothing, try again. (refused with -32000)',
    ],
  ] as const) {
    wallet.fails.set(method, code);
    await page.getByRole('button', { name: 'Send it back with Test Wallet' }).click();
    await page.locator('.problem').getByText(words).waitFor();
    wallet.fails.clear();
  }
  // The payer may leave a prompt, and ask again.
  const held = wallet.hold('eth_sendTransaction');
  await page.getByRole('button', { name: 'Send it back with Test Wallet' }).click();
  await held.opened;
  await page.getByText('Confirm in your wallet.').waitFor();
  wallet.madeUp.set('eth_sendTransaction', 'sent');
  await page.getByRole('button', { name: 'Send it back with Test Wallet' }).click();
  await page.getByText('Ethereum does not show the transaction yet. Check your wallet').waitFor();
  wallet.madeUp.clear();
  await sendBack(page);
  const balance = await life.ethereum.anvil.request('eth_getBalance', [named, 'latest']);
  assert.equal(BigInt(String(balance)), 500_000_000_000_000_000n);
  assert.deepEqual(complaints.errors, []);
  const elsewhere = complaints.urls.filter((url) => !url.startsWith(life.options.origin));
  assert.deepEqual(elsewhere, []);
  await page.close();
});

test('a return that a wallet makes up is said not to be seen, and can be sent again; one that it does not report is recognized', async () => {
  const named = new Payer(life).address;
  const prepared = await prepare('ethereum::usdc', named, {});
  await life.ethereum.anvil.request('anvil_setBalance', [prepared.address, '0x6f05b59d3b20000']);
  const wallet = new TestWallet([life.ethereum, life.base]);
  await life.ethereum.anvil.request('anvil_setBalance', [wallet.address, '0x56bc75e2d63100000']);
  const { page } = await openPage(browser);
  await wallet.inject(page);
  await page.clock.install();
  await page.goto(claimUrl(prepared));
  await page.getByLabel('What was sent').selectOption({ label: 'The network’s own coin' });
  await page.getByRole('button', { name: 'Show what is there' }).click();
  /** Sends it back, and lets the two minutes pass in which the page asks the wallet. */
  const sendUnseen = async () => {
    await page.getByRole('button', { name: 'Send it back with Test Wallet' }).click();
    await page.getByText('It is back once').waitFor();
    const answer = page.locator('button:enabled', { hasText: 'Show what is there' });
    for (let seconds = 0; seconds < 200 && (await answer.count()) === 0; seconds += 1) {
      await page.clock.fastForward(1_000);
      await page.waitForTimeout(20);
    }
  };
  wallet.madeUp.set('eth_getTransactionReceipt', null);
  wallet.madeUp.set('eth_sendTransaction', `0x${'ab'.repeat(32)}`);
  await sendUnseen();
  await page.getByText('Ethereum does not show the transaction yet. Check your wallet').waitFor();
  await page.getByText('0.50 ETH is there.').waitFor();
  wallet.madeUp.delete('eth_sendTransaction');
  await sendUnseen();
  await page.getByText('This address has none of it.').waitFor();
  assert.equal(await page.locator('.problem').count(), 0);
  await page.getByText('It is back once').waitFor();
  await page.close();
});

test('a token may be named by its contract, and money that can still pay stays until the contract releases it', async () => {
  const named = new Payer(life).address;
  const prepared = await prepare('ethereum::usdc', named, { latePayment: 'ask', lateHours: 24 });
  const usdc = life.ethereum.token('usdc');
  await life.ethereum.mint(usdc, prepared.address, 1_000_000n);
  const wallet = new TestWallet([life.ethereum, life.base]);
  await wallet.fund(life.ethereum, usdc, 1n);
  const { page } = await openPage(browser);
  await wallet.inject(page);
  await page.goto(claimUrl(prepared));
  await page.getByLabel('What was sent').selectOption({ label: 'Another token' });
  await page.getByLabel('Contract address of the token').fill('0x12');
  await page.getByRole('button', { name: 'Show what is there' }).click();
  await page
    .getByText('Check this address for a typo. It must have 42 characters and begin with 0x.')
    .waitFor();
  await page.getByLabel('Contract address of the token').fill(usdc.address);
  await page.getByRole('button', { name: 'Show what is there' }).click();
  await page.getByText('1.00 USDC is there.').waitFor();
  await page.getByText('The contract releases it after').waitFor();
  assert.equal(await page.getByRole('button', { name: /Send it back/ }).count(), 0);
  await page.close();
});

test('without scripts the claim page states what arrived and where it goes, which is only the refund address', async () => {
  const named = new Payer(life).address;
  const usdc = life.base.token('usdc');
  await life.base.anvil.request('evm_increaseTime', [3_600]);
  const prepared = await prepare('base::usdc', named, { latePayment: 'ask', lateHours: 24 });
  await life.sessionIn(prepared.sessionId, 'expired');
  await life.base.mint(usdc, prepared.address, 25_000_000n);
  await life.eventOf(prepared.sessionId, 'session.exception');
  const { page } = await openPage(browser, { javaScriptEnabled: false });
  await page.goto(`${life.options.origin}/checkout/${prepared.sessionId}`);
  await page.getByText('It goes back automatically after').waitFor();
  await page.locator('#claim-link').click();
  const text = (await page.locator('body').textContent()) ?? '';
  for (const words of [
    shorten(named),
    shorten(prepared.address),
    '25.00\u00a0USDC came too late. It goes back automatically after',
    'allow scripts',
  ])
    assert.ok(text.includes(words), words);
  await page.goto(`${life.options.origin}/checkout/${prepared.sessionId}/claim?lang=ar`);
  assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');
  const missing = await fetch(`${life.options.origin}/checkout/sess_0000000000000000000000/claim`);
  assert.equal(missing.status, 404);
  await page.close();
});

// proves W2.10
test('a claim is answered only for orders of its session, and only with its secret', async () => {
  const [own, other] = [
    await prepare('ethereum::usdc', new Payer(life).address, {}),
    await prepare('ethereum::usdc', new Payer(life).address, {}),
  ];
  const token = life.ethereum.token('usdc').address;
  const claim = async (orderId: string, clientCode: string) => {
    const response = await fetch(`${life.options.origin}/checkout/api/claim`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-client-code': clientCode },
      body: JSON.stringify({ sessionId: own.sessionId, orderId, token, purpose: 'rescue' }),
    });
    return ((await response.json()) as { code: number }).code;
  };
  assert.equal(await claim(own.orderId, own.clientCode), 0);
  assert.equal(await claim(other.orderId, own.clientCode), 100201);
  assert.equal(await claim(own.orderId, other.clientCode), 100202);
});
