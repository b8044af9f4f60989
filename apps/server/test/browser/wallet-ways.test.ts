import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { Life } from '../life/life.ts';
import { openChromium, openPage } from './chromium.ts';
import { chooseWay } from './states.ts';
import { TestWallet } from './test-wallet.ts';

/** How the page continues when a wallet refuses, does not answer, or changes. */

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

interface Visit {
  readonly page: Page;
  readonly wallet: TestWallet;
}

/** A visitor on the page of a link for 25 dollars, with a connected wallet that has 30 of one token on Ethereum. */
async function visit(
  token: 'usdc' | 'usdt',
  prepare: (wallet: TestWallet) => void = () => undefined,
): Promise<Visit> {
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'Green tea',
    commonPrices: [25_000_000],
  });
  const { linkUrl } = await life.post<{ linkUrl: string }>('/payment/link/create', {
    linkType: 'fixed',
    linkName: 'Tea shop',
    accountId: life.accountId,
    settlementToken: `ethereum::${token}`,
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 25_000_000 }],
  });
  const wallet = new TestWallet([life.ethereum, life.base]);
  await wallet.fund(life.ethereum, life.ethereum.token(token), 30_000_000n);
  prepare(wallet);
  const { page } = await openPage(browser);
  await wallet.inject(page);
  await page.goto(linkUrl);
  await page.getByRole('button', { name: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USD').waitFor();
  return { page, wallet };
}

const pay = (page: Page) => page.locator('#pay-button').click();
const paid = (page: Page) => page.locator('[data-status=completed]').waitFor();
const says = (page: Page, text: string) => page.locator('#problem').getByText(text).waitFor();
const sends = ({ asked }: TestWallet) => asked.filter((method) => /send|sign/i.test(method));

for (const code of [5700, 5750, -32601]) {
  test(`a wallet that answers a batch of calls with ${code} pays by plain transactions`, async () => {
    const { page, wallet } = await visit('usdt', (taught) => {
      taught.canBatch = true;
      taught.fails.set('wallet_sendCalls', code);
    });
    await pay(page);
    await paid(page);
    assert.deepEqual(sends(wallet), ['wallet_sendCalls', 'eth_sendTransaction', 'eth_sendTransaction']);
    await page.close();
  });
}

test('a wallet that does not report its transactions can pay, and each transaction names its chain', async () => {
  const { page, wallet } = await visit('usdt', ({ fails }) => {
    fails.set('eth_getTransactionReceipt', 4200);
  });
  await pay(page);
  await paid(page);
  assert.deepEqual(
    wallet.transactions.map(({ chainId }) => Number(chainId)),
    [31_337, 31_337],
  );
  await page.close();
});

test('a wallet that does not report the result of its calls can pay', async () => {
  const { page, wallet } = await visit('usdt', (taught) => {
    taught.canBatch = true;
    taught.fails.set('wallet_getCallsStatus', -32601);
  });
  await pay(page);
  await paid(page);
  assert.deepEqual(sends(wallet), ['wallet_sendCalls']);
  await page.close();
});

test('a wallet that does not sign typed data pays by transactions', async () => {
  const { page, wallet } = await visit('usdc', ({ fails }) => {
    fails.set('eth_signTypedData_v4', -32603);
  });
  await pay(page);
  await paid(page);
  assert.deepEqual(sends(wallet), ['eth_signTypedData_v4', 'eth_sendTransaction', 'eth_sendTransaction']);
  await page.close();
});

test('a payer who declines to sign may pay by a transaction instead', async () => {
  const { page, wallet } = await visit('usdc');
  wallet.refused.add('eth_signTypedData_v4');
  await pay(page);
  await says(page, 'You declined in your wallet.');
  await page.getByRole('button', { name: 'Pay by a transaction instead (costs gas)' }).click();
  await paid(page);
  assert.deepEqual(sends(wallet), ['eth_signTypedData_v4', 'eth_sendTransaction', 'eth_sendTransaction']);
  await page.close();
});

test('a wallet that cannot change networks pays after its payer has changed the network', async () => {
  const { page, wallet } = await visit('usdc', (taught) => {
    taught.current = 31_338;
    taught.fails.set('wallet_switchEthereumChain', 4200);
  });
  await pay(page);
  await says(page, 'Switch it to');
  assert.deepEqual(sends(wallet), []);
  wallet.current = 31_337;
  await pay(page);
  await paid(page);
  await page.close();
});

test('if a wallet does not know the network and cannot add it, the page names the network to change to', async () => {
  const { page, wallet } = await visit('usdc', (taught) => {
    taught.current = 31_338;
    taught.known.delete(31_337);
    taught.fails.set('wallet_addEthereumChain', 4200);
  });
  await pay(page);
  await says(page, 'Switch it to');
  wallet.fails.clear();
  await pay(page);
  await paid(page);
  await page.close();
});

test('a network that the payer changes after the allowance is changed back before the payment', async () => {
  const { page, wallet } = await visit('usdt');
  const held = wallet.hold('eth_getTransactionReceipt');
  await pay(page);
  await held.opened;
  wallet.current = 31_338;
  held.answer();
  await paid(page);
  const asked = wallet.asked.filter((method) => /send|switch/i.test(method));
  assert.deepEqual(asked, ['eth_sendTransaction', 'wallet_switchEthereumChain', 'eth_sendTransaction']);
  await page.close();
});

test('a prompt that is never answered can be cancelled and repeated', async () => {
  const { page, wallet } = await visit('usdc');
  wallet.hold('eth_signTypedData_v4');
  await pay(page);
  await page.locator('#step').filter({ hasText: 'Sign in your wallet' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await says(page, 'Stopped. If your wallet still shows a request, reject it there.');
  // The focus does not get lost with the button that had it.
  await page.locator('#pay-button:focus').waitFor();
  wallet.hold('eth_signTypedData_v4');
  await pay(page);
  await page.getByRole('button', { name: 'Ask the wallet again' }).click();
  await paid(page);
  assert.deepEqual(
    sends(wallet),
    Array.from({ length: 3 }, () => 'eth_signTypedData_v4'),
  );
  await page.close();
});

test('a connection that is never answered can be cancelled and repeated', async () => {
  const { page, wallet } = await visit('usdc');
  wallet.hold('eth_requestAccounts');
  await page.getByRole('button', { name: 'Test Wallet' }).click();
  await page.getByRole('button', { name: 'Ask the wallet again' }).click();
  await page.locator('#waiting').waitFor({ state: 'detached' });
  // The first connection, the one without an answer, and the one after it.
  assert.equal(wallet.asked.filter((method) => method === 'eth_requestAccounts').length, 3);
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await page.close();
});

test('a payment that the wallet sends after the payer has cancelled is shown as sent, and is the only one', async () => {
  const { page, wallet } = await visit('usdt');
  await wallet.approve(life.ethereum, life.ethereum.token('usdt'), 25_000_000n);
  const held = wallet.hold('eth_sendTransaction');
  await pay(page);
  await held.opened;
  await page.getByRole('button', { name: 'Cancel' }).click();
  await says(page, 'Stopped.');
  held.answer();
  await paid(page);
  assert.equal(await life.ethereum.balanceOf(life.ethereum.token('usdt'), wallet.address), 5_000_000n);
  await page.close();
});

test('a wallet that answers after the payment is shown leaves the page with nothing to wait for', async () => {
  const { page, wallet } = await visit('usdt');
  await wallet.approve(life.ethereum, life.ethereum.token('usdt'), 25_000_000n);
  const held = wallet.holdAnswer('eth_sendTransaction');
  await pay(page);
  await paid(page);
  const answered = page.waitForFunction(`globalThis['sessionStorage'].length > 0`);
  held.answer();
  await answered;
  assert.equal(await page.getByText('Payment sent.').count(), 0);
  await page.close();
});

test('changing the account ends the request to the first one, and the new one pays when its owner confirms', async () => {
  const { page, wallet } = await visit('usdt');
  const other = `0x${'a7'.repeat(20)}`;
  const held = wallet.hold('eth_sendTransaction');
  await pay(page);
  await held.opened;
  await wallet.emit('accountsChanged', [other]);
  await says(page, 'Your wallet has changed to another account.');
  await page.getByText('0xa7a7…a7a7').waitFor();
  await wallet.emit('accountsChanged', [wallet.address]);
  await page.locator('#way').getByText('You have 30.00 USDT').waitFor();
  await pay(page);
  await paid(page);
  await page.close();
});

test('a disconnected wallet is asked for nothing more, and can be connected again', async () => {
  const { page, wallet } = await visit('usdt');
  const held = wallet.hold('eth_sendTransaction');
  await pay(page);
  await held.opened;
  await wallet.emit('disconnect', { code: 4900 });
  await says(page, 'Your wallet is no longer connected. Connect it again.');
  await page.getByRole('button', { name: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USDT').waitFor();
  await pay(page);
  await paid(page);
  await page.close();
});

test('for a wallet that cannot send, the page shows the ways to pay without it', async () => {
  const { page } = await visit('usdt', ({ fails }) => {
    fails.set('eth_sendTransaction', 4200);
  });
  await pay(page);
  await says(page, 'This wallet cannot send payments from this page.');
  await page.locator('#by-address').check();
  await page.locator('#refund-input').waitFor();
  await page.close();
});

test('after a reload the wallet is connected again, and its owner is asked for nothing', async () => {
  const { page, wallet } = await visit('usdc');
  await page.reload();
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await page.locator('.wallet[aria-pressed=true]').getByText('Test Wallet').waitFor();
  assert.equal(wallet.asked.filter((method) => method === 'eth_requestAccounts').length, 1);
  // A wallet that no longer shows an account is not connected, and not asked either.
  await wallet.emit('disconnect', undefined);
  await page.locator('.wallet[aria-pressed=false]').waitFor();
  await page.reload();
  await page.locator('.wallet[aria-pressed=false]').waitFor();
  assert.equal(wallet.asked.filter((method) => method === 'eth_requestAccounts').length, 1);
  await page.close();
});

test('a wallet that does not answer the connection is left for another one by a click on that', async () => {
  const { page, wallet: first } = await visit('usdc');
  const other = new TestWallet([life.ethereum], { name: 'Other Wallet' });
  await other.fund(life.ethereum, life.ethereum.token('usdc'), 40_000_000n);
  await other.inject(page);
  await first.emit('disconnect', undefined);
  await page.reload();
  const held = first.hold('eth_requestAccounts');
  await page.getByRole('button', { name: 'Test Wallet' }).click();
  await held.opened;
  await page.getByRole('button', { name: 'Other Wallet' }).click();
  await page.locator('#way').getByText('You have 40.00 USDC').waitFor();
  // A late answer of the first one changes nothing.
  held.answer();
  await page.locator('.wallet[aria-pressed=true]').getByText('Other Wallet').waitFor();
  assert.equal(await page.locator('#problem').textContent(), '');
  await page.close();
});

test('a wallet with too little is told what is missing, and can pay in another token or from elsewhere', async () => {
  const { page, wallet } = await visit('usdc', (own) => {
    own.current = life.base.chain.chainId;
  });
  await wallet.fund(life.base, life.base.token('usdc'), 10_000_000n);
  await page.reload();
  await chooseWay(page, 'USDC', 'Base');
  await page
    .locator('#short')
    .getByText(/^You need 1\d\.\d\d USDC more in this wallet\.$/)
    .waitFor();
  await page.getByRole('button', { name: 'USDC on Ethereum' }).click();
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  assert.equal(await page.locator('#short p').count(), 0);
  // The wallet's own network comes first when it has the money, although it costs more.
  await wallet.fund(life.base, life.base.token('usdc'), 20_000_000n);
  await page.reload();
  await page.locator('#way').getByText('USDC on Base').waitFor();
  await chooseWay(page, 'DAI', 'Base');
  await page.locator('#send-elsewhere').click();
  await page.locator('#refund-input').waitFor();
  assert.equal(await page.locator('#refund-input').inputValue(), wallet.address.toLowerCase());
  await page.close();
});
