import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage } from './chromium.ts';
import { browser, life, paid, useTeaShop } from './tea-shop.ts';
import { TestWallet } from './test-wallet.ts';
import { installApps, makePhone, walletApps } from './wallet-app.ts';
import { pay, says, sends, visit } from './wallet-visit.ts';

/** How the page continues with wallets that lack something or do not answer. */

useTeaShop();

/** A way in which a wallet misbehaves that its owner need not notice, and what the page then asks the wallet for. */
interface Way {
  readonly does: string;
  readonly token: 'usdc' | 'usdt';
  readonly teach: (wallet: TestWallet) => void;
  readonly sends: readonly string[];
}

const twice = ['eth_sendTransaction', 'eth_sendTransaction'];
const ways: readonly Way[] = [
  ...[
    { does: 'answers a batch of calls with 5700', code: 5700 },
    { does: 'answers a batch of calls with 5750', code: 5750 },
    { does: 'answers a batch of calls with -32601', code: -32_601 },
  ].map(({ does, code }) => ({
    does,
    token: 'usdt' as const,
    teach: (wallet: TestWallet) => {
      wallet.canBatch = true;
      wallet.fails.set('wallet_sendCalls', code);
    },
    sends: ['wallet_sendCalls', ...twice],
  })),
  {
    does: 'does not report its transactions',
    token: 'usdt',
    teach: ({ fails }) => fails.set('eth_getTransactionReceipt', 4200),
    sends: twice,
  },
  {
    does: 'does not report the result of its calls',
    token: 'usdt',
    teach: (wallet) => {
      wallet.canBatch = true;
      wallet.fails.set('wallet_getCallsStatus', -32601);
    },
    sends: ['wallet_sendCalls'],
  },
  {
    does: 'does not sign typed data',
    token: 'usdc',
    teach: ({ fails }) => fails.set('eth_signTypedData_v4', 4200),
    sends: ['eth_signTypedData_v4', ...twice],
  },
];

for (const { does, token, teach, sends: expected } of ways) {
  test(`a wallet that ${does} pays all the same, and each transaction names its chain`, async () => {
    const { page, wallet } = await visit(token, teach);
    await pay(page);
    await paid(page);
    assert.deepEqual(sends(wallet), expected);
    assert.ok(wallet.transactions.every(({ chainId }) => Number(chainId) === 31_337));
    await page.close();
  });
}

test('a wallet that cannot change networks pays after its payer has changed the network', async () => {
  const { page, wallet } = await visit('usdc', (taught) => {
    taught.current = 31_338;
    taught.fails.set('wallet_switchEthereumChain', 4200);
  });
  await pay(page);
  await says(page, 'Switch your wallet to');
  assert.deepEqual(sends(wallet), []);
  wallet.current = 31_337;
  await pay(page);
  await paid(page);
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
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.getByRole('button', { name: 'Ask the wallet again' }).click();
  await page.locator('#waiting').waitFor({ state: 'detached' });
  // The first connection, the one without an answer, and the one after it.
  assert.equal(wallet.asked.filter((method) => method === 'eth_requestAccounts').length, 3);
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await page.close();
});

test('a disconnected wallet is asked for nothing more, and can be connected again', async () => {
  const { page, wallet } = await visit('usdt');
  const held = wallet.hold('eth_sendTransaction');
  await pay(page);
  await held.opened;
  await wallet.emit('disconnect', { code: 4900 });
  await says(page, 'Your wallet is no longer connected. Connect it again.');
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
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

test('a wallet that gives no address is not connected, and can be asked again', async () => {
  const { page, wallet } = await visit('usdc');
  await wallet.emit('disconnect', undefined);
  wallet.wrongAnswers.set('eth_requestAccounts', null);
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await says(page, 'Your wallet is no longer connected. Connect it again.');
  assert.deepEqual(sends(wallet), []);
  wallet.wrongAnswers.clear();
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await pay(page);
  await paid(page);
  await page.close();
});

test('a wallet that pays and gives no hash is asked once, and the chain shows the payment', async () => {
  const { page, wallet } = await visit('usdt');
  await wallet.approve(life.ethereum, life.ethereum.token('usdt'), 25_000_000n);
  wallet.wrongAnswers.set('eth_sendTransaction', null);
  await pay(page);
  await paid(page);
  assert.deepEqual(sends(wallet), ['eth_sendTransaction']);
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
  // Of several wallets, the one act of the page connects the first.
  await page.locator('#connect').getByText('Test Wallet · Connect').click();
  await held.opened;
  await page.locator('.wallet', { hasText: 'Other Wallet' }).click();
  await page.locator('#way').getByText('You have 40.00 USDC').waitFor();
  // A late answer of the first one changes nothing.
  held.answer();
  await page.locator('.wallet[aria-pressed=true]').getByText('Other Wallet').waitFor();
  assert.equal(await page.locator('#problem').textContent(), '');
  await page.close();
});

test('tapped on a phone, the link of each wallet app opens this session there, and a wallet in the app pays it', async () => {
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'Green tea',
    commonPrices: [25_000_000],
  });
  const { paymentUrl } = await life.post<{ paymentUrl: string }>('/session/checkout/create', {
    accountId: life.accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 25_000_000 }],
  });
  const { page, complaints } = await openPage(browser, { phone: true });
  await makePhone(page);
  const opened = await installApps(page);
  // The page checks its secret by a request that an unpaid session answers.
  const checked = page.waitForResponse((reply) => reply.url().endsWith('/places') && reply.ok());
  await page.goto(paymentUrl);
  await checked;
  for (const name of walletApps) {
    await page.locator('#apps').getByRole('link', { name }).click();
    await page.getByText('the wallet app').waitFor();
    await page.goBack();
  }
  const url = paymentUrl.replace(/#.*/, '');
  assert.deepEqual(
    opened,
    walletApps.map((name) => ({ name, url })),
  );
  assert.ok(!complaints.urls.some((asked) => asked.endsWith('/receipt')));
  // The app's browser is another one, with a wallet of its own.
  const wallet = new TestWallet([life.ethereum, life.base]);
  await wallet.fund(life.ethereum, life.ethereum.token('usdc'), 30_000_000n);
  const { page: inApp } = await openPage(browser, { phone: true, isApart: true });
  await wallet.inject(inApp, 'injected');
  await inApp.goto(opened[0]?.url ?? '');
  await inApp.locator('.wallet', { hasText: 'Browser wallet' }).click();
  await inApp.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await pay(inApp);
  await paid(inApp);
  // The page that the payer left follows.
  await paid(page);
  await inApp.context().close();
  await page.close();
});
