import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parseReceipt, verifyReceipt } from '@florin/kit';
import { permit2Address } from '#chains/shared-contract.ts';
import { Payer } from '../life/payer.ts';
import { openPage } from './chromium.ts';
import { addLink, browser, life, paid, sessionIdOf, useTeaShop, visit } from './tea-shop.ts';
import { TestWallet } from './test-wallet.ts';

useTeaShop();

test('the downloaded receipt proves the payment to anyone with a node of the chain', async () => {
  const { page, wallet } = await visit(await addLink());
  await wallet.fund(life.ethereum, life.ethereum.token('usdc'), 30_000_000n);
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await page.getByRole('button', { name: /^Pay 25\.00 USDC/ }).click();
  await paid(page);
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#download').click()]);
  const receipt = parseReceipt(await readFile(await download.path(), 'utf8'));
  const { anvil, chain } = life.ethereum;
  const request = (method: string, params: readonly unknown[]) => anvil.request(method, params);
  const verdict = await verifyReceipt(receipt, { request, gateway: chain.gateway, published: [] });
  assert.deepEqual([verdict.isValid, verdict.status], [true, 'settled']);
  // The same address on another device shows the same; without its secret there is no receipt to download.
  const other = await openPage(browser, { isApart: true });
  await other.page.goto(page.url());
  await other.page.locator('[data-status=completed]').waitFor();
  assert.equal(await other.page.locator('#download').isVisible(), true);
  await other.page.goto('about:blank');
  await other.page.goto(page.url().split('#')[0] ?? '');
  await other.page.locator('[data-status=completed]').waitFor();
  assert.equal(await other.page.locator('#download').isVisible(), false);
  await Promise.all([page.close(), other.page.context().close()]);
});

test('a token whose allowance must first be 0 is paid by an old injected wallet in three transactions', async () => {
  const link = await addLink({ settlementToken: 'ethereum::usdt' });
  const { page, wallet } = await visit(link, { injection: 'injected' });
  const usdt = life.ethereum.token('usdt');
  await wallet.fund(life.ethereum, usdt, 30_000_000n);
  await wallet.approve(life.ethereum, usdt, 7n);
  await page.locator('.wallet', { hasText: 'Browser wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USDT').waitFor();
  await page.getByRole('button', { name: /^Pay 25\.00 USDT/ }).click();
  await paid(page);
  assert.equal(wallet.asked.filter((method) => method === 'eth_sendTransaction').length, 3);
  assert.equal(await wallet.allowance(life.ethereum, usdt), 0n);
  await page.close();
});

test('a wallet that can batch calls is asked once', async () => {
  const { page, wallet } = await visit(await addLink({ settlementToken: 'base::dai' }));
  const dai = life.base.token('dai');
  wallet.canBatch = true;
  await wallet.fund(life.base, dai, 30n * 10n ** 18n);
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 DAI').waitFor();
  await page.getByRole('button', { name: /^Pay 25\.00 DAI/ }).click();
  await paid(page);
  assert.deepEqual(
    wallet.asked.filter((method) => /send/i.test(method)),
    ['wallet_sendCalls'],
  );
  await page.close();
});

test('a payer with an allowance for Permit2 pays by one signature without gas', async () => {
  const link = await addLink({ settlementToken: 'base::dai' });
  const { page, wallet } = await visit(link);
  const dai = life.base.token('dai');
  await wallet.fund(life.base, dai, 30n * 10n ** 18n);
  await wallet.approve(life.base, dai, 25n * 10n ** 18n, permit2Address);
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 DAI').waitFor();
  await page.getByRole('button', { name: /^Pay 25\.00 DAI/ }).click();
  await paid(page);
  assert.deepEqual(
    wallet.asked.filter((method) => /send|sign/i.test(method)),
    ['eth_signTypedData_v4'],
  );
  assert.equal(await life.base.balanceOf(dai, wallet.address), 5n * 10n ** 18n);
  await page.close();
});

test('a payment on another chain than the merchant’s settles there, and the receipt shows both transactions', async () => {
  const link = await addLink({ settlementToken: 'base::usdc', feeModel: 2 });
  const { page, wallet } = await visit(link, { phone: true });
  const [paying, settled] = [life.ethereum.token('usdc'), life.base.token('usdc')];
  await wallet.fund(life.ethereum, paying, 30_000_000n);
  const before = await life.base.balanceOf(settled, life.merchantWallet);
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  // Of all that could pay, what the wallet has is chosen for it.
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await page.locator('#way').getByText('USDC on Ethereum').waitFor();
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/receipt')) asked += 1;
  });
  await page.getByRole('button', { name: /^Pay 25\.15 USDC/ }).click();
  await paid(page);
  const { session, transaction } = await life.session(sessionIdOf(page));
  assert.deepEqual([transaction?.totalValue, transaction?.netValue], [25_150_000, 25_000_000]);
  assert.equal((await life.base.balanceOf(settled, life.merchantWallet)) - before, 25_000_000n);
  // With the session's secret the payer's address becomes whole.
  await page.locator('#whole-payer').filter({ hasText: wallet.address }).waitFor({ state: 'attached' });
  const shown = await page.locator('.receipt .whole').allTextContents();
  const { initiateTx, completeTx, sessionId } = session;
  assert.deepEqual(shown, [wallet.address, initiateTx, completeTx, sessionId]);
  // Once for all states from the payment to its end.
  assert.equal(asked, 1);
  assert.notEqual(session.initiateTx, session.completeTx);
  await page.close();
});

test('every request that a payer declines can be repeated, and nothing is paid before', async () => {
  const { page, wallet } = await visit(await addLink({ settlementToken: 'ethereum::usdt' }));
  wallet.refused.add('eth_requestAccounts');
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.getByRole('alert').getByText('You declined in your wallet. Nothing was paid.').waitFor();
  wallet.refused.clear();
  await wallet.fund(life.ethereum, life.ethereum.token('usdt'), 30_000_000n);
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USDT').waitFor();
  for (const method of ['eth_sendTransaction', 'wallet_switchEthereumChain']) {
    wallet.current = method === 'eth_sendTransaction' ? 31_337 : 31_338;
    // The alert of the round before may still stand, so the wallet says when it refused.
    const refused = wallet.refuseNext(method);
    await page.locator('#pay-button').click();
    await refused;
    await page.getByRole('alert').getByText('You declined in your wallet').waitFor();
  }
  assert.equal((await life.session(sessionIdOf(page))).session.status, 'initialized');
  await page.getByRole('button', { name: /^Pay 25/ }).click();
  await paid(page);
  await page.close();
});

test('a wallet with too little sees that, and another wallet can pay', async () => {
  const poor = new TestWallet([life.ethereum, life.base], { name: 'Poor Wallet' });
  const { page, wallet } = await visit({ linkUrl: 'about:blank' });
  await poor.inject(page);
  const usdt = life.ethereum.token('usdt');
  await poor.fund(life.ethereum, usdt, 1_000_000n);
  await wallet.fund(life.ethereum, usdt, 30_000_000n);
  await page.goto((await addLink({ settlementToken: 'ethereum::usdt' })).linkUrl);
  await page.locator('.wallet').nth(1).waitFor();
  // Of several wallets one act connects the first, and the list says that there is a choice.
  const first = (await page.locator('.wallet bdi').first().textContent()) ?? '';
  assert.equal(await page.locator('#connect').textContent(), `${first} · Connect`);
  await page.locator('#wallets-title:not(.hide)').waitFor();
  await page.locator('.wallet', { hasText: 'Poor Wallet' }).click();
  await page.locator('#way').getByText('You have 1.00 USDT').waitFor();
  await page.getByRole('button', { name: /^Pay 25\.00/, disabled: true }).waitFor();
  await page.locator('#lack').getByText('You need 24.00 USDT more on Ethereum.').waitFor();
  await page.locator('.wallet', { hasText: 'Test Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USDT').waitFor();
  await page.locator('#pay-button').click();
  await paid(page);
  await page.close();
});

test('the page asks for the amount of a custom link and a required e-mail address, and a plain transfer pays', async () => {
  const link = await addLink({
    linkType: 'custom',
    lineItems: [{ itemType: 'user_priced' }],
    payerEmailRequired: 1,
    feeModel: 2,
  });
  const { page } = await openPage(browser, { phone: true });
  await page.goto(link.linkUrl);
  await page.locator('#no-wallet').waitFor();
  await page.locator('#by-address').check();
  const sender = new TestWallet([life.ethereum, life.base]);
  const usdc = life.ethereum.token('usdc');
  await sender.fund(life.ethereum, usdc, 50_000_000n);
  await page.locator('#refund-input').fill(sender.address);
  const show = () => page.getByRole('button', { name: 'Show deposit address' }).click();
  await show();
  await page.getByRole('alert').getByText('Enter your e-mail address.').waitFor();
  await page.locator('#email-input:focus[aria-invalid=true][aria-describedby~=problem]').waitFor();
  await page.locator('#email-input').fill('ada@example');
  await show();
  await page.getByRole('alert').getByText('Enter a complete e-mail address').waitFor();
  await page.locator('#email-input').fill('ada@example.com');
  await show();
  await page.getByRole('alert').getByText('Enter an amount such as 25.00.').waitFor();
  await page.locator('#amount-input:focus[aria-invalid=true][aria-describedby~=amount-problem]').waitFor();
  await page.locator('#amount-input').fill('10,5');
  await page.getByRole('heading', { level: 1, name: '$10.521' }).waitFor();
  await show();
  await page.getByRole('heading', { name: 'Send exactly 10.521 USDC' }).waitFor();
  await page.getByText('Only on the Ethereum network').waitFor();
  const address = await page.locator('#deposit-address').textContent();
  await sender.transfer(life.ethereum, usdc, { to: address ?? '', amount: 10_521_000n });
  await paid(page);
  const { session, transaction } = await life.session(sessionIdOf(page));
  assert.deepEqual(
    [session.amount, session.payerEmail, transaction?.totalValue, transaction?.netValue],
    [10_500_000, 'ada@example.com', 10_521_000, 10_500_000],
  );
  await page.close();
});

test("an agent's session opens without a secret, and only its own wallet can pay it", async () => {
  const { linkId } = await addLink();
  const agent = new Payer(life);
  await agent.fund(life.ethereum, life.ethereum.token('usdc'), 30_000_000n);
  const sessionId = await agent.createSession(linkId, life.ethereum.token('usdc'));
  const other = new TestWallet([life.ethereum], { name: 'Other Wallet' });
  const own = new TestWallet([life.ethereum], { name: 'Own Wallet', wallet: agent.wallet });
  const { page } = await openPage(browser);
  for (const wallet of [other, own]) await wallet.inject(page);
  await page.goto(`${life.options.origin}/checkout/${sessionId}`);
  await page.locator('.wallet', { hasText: 'Other Wallet' }).click();
  await page
    .getByRole('alert')
    .getByText(/^Only the wallet 0x/)
    .waitFor();
  await page.getByRole('button', { name: 'Own Wallet' }).click();
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await page.locator('#pay-button').click();
  await paid(page);
  assert.equal((await life.session(sessionId)).session.payer.toLowerCase(), agent.address.toLowerCase());
  await page.close();
});
