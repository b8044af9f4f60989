import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statement } from '@florin/pg';
import { WalletError } from './ethers-wallet.ts';
import { readCode } from './read-code.ts';
import { linkUri, standIn } from './stand-in.ts';
import { chooseWay } from './states.ts';
import { life, paid, sessionIdOf, useTeaShop } from './tea-shop.ts';
import type { TestWallet } from './test-wallet.ts';
import { pay, says, sends, visit, visitWithout } from './wallet-visit.ts';

const endSession = statement({
  name: 'wallet_guard_test_end',
  parameters: { sessionId: 'text' },
  text: `update sessions set expiration_time = created_at where session_id = :sessionId`,
});

/** How the page guards the payer's money when a wallet refuses, answers late, or changes. */

useTeaShop({ walletConnect: { projectId: '4f'.repeat(16), module: standIn } });

const walletFailed = 'Your wallet reports an error. If it shows no payment, nothing was paid. Try again.';

test('a payer who declines to sign may pay by a transaction instead', async () => {
  const { page, wallet } = await visit('usdc');
  wallet.refused.add('eth_signTypedData_v4');
  await pay(page);
  await says(page, 'You declined in your wallet.');
  await page.getByRole('button', { name: 'Pay by a transaction instead (costs a network fee)' }).click();
  await paid(page);
  assert.deepEqual(sends(wallet), ['eth_signTypedData_v4', 'eth_sendTransaction', 'eth_sendTransaction']);
  await page.close();
});

test('a wallet whose signature is not its owner’s is asked for nothing more before another press, and the page says why', async () => {
  for (const signature of [`0x${'1b'.repeat(65)}`, null]) {
    const { page, wallet } = await visit('usdc');
    wallet.madeUp.set('eth_signTypedData_v4', signature);
    await pay(page);
    await says(page, 'Your wallet’s signature is not valid. Nothing was paid.');
    assert.deepEqual(sends(wallet), ['eth_signTypedData_v4']);
    if (signature !== null) {
      await page.getByRole('button', { name: 'Pay by a transaction instead (costs a network fee)' }).click();
      await paid(page);
      assert.deepEqual(sends(wallet), ['eth_signTypedData_v4', 'eth_sendTransaction', 'eth_sendTransaction']);
    }
    await page.close();
  }
});

test('when the token refuses what the wallet signed, the page says so and sends no transaction before another press', async () => {
  const { page, wallet } = await visit('usdc');
  const { address } = life.ethereum.token('usdc');
  await life.ethereum.call(address, 'LocalUsdc', 'blacklist', [wallet.address]);
  await pay(page);
  await says(page, 'This way to pay does not work at the moment. Nothing was paid.');
  await page.getByRole('button', { name: 'Pay by a transaction instead (costs a network fee)' }).waitFor();
  assert.deepEqual(sends(wallet), ['eth_signTypedData_v4']);
  await page.close();
  // The wallet has sent its money elsewhere since the page read its balance.
  const other = await visit('usdc');
  const to = life.merchantWallet;
  await other.wallet.transfer(life.ethereum, life.ethereum.token('usdc'), { to, amount: 20_000_000n });
  await pay(other.page);
  await other.page
    .locator('#lack')
    .getByText(/^You need 15\.\d\d\sUSDC more on Ethereum\.$/)
    .waitFor();
  assert.deepEqual(sends(other.wallet), ['eth_signTypedData_v4']);
  await other.page.close();
});

test('a wallet without the coin of the network is told that the fee needs it, whether it declines or fails', async () => {
  for (const refuse of [
    (wallet: TestWallet) => wallet.refused.add('eth_sendTransaction'),
    (wallet: TestWallet) => {
      wallet.fails.set('eth_sendTransaction', -32_000);
      wallet.failsWith = 'insufficient funds for gas * price + value';
    },
  ]) {
    const { page, wallet } = await visit('usdt', refuse);
    await life.ethereum.anvil.request('anvil_setBalance', [wallet.address, '0x0']);
    await pay(page);
    await says(page, 'Your wallet has no ETH for the network fee. Add some, or pay in another way.');
    await page.close();
  }
});

test('a wallet that fails to sign is asked for a transaction, which costs gas, only after another press', async () => {
  const { page, wallet } = await visit('usdc', ({ fails }) => fails.set('eth_signTypedData_v4', -32_000));
  await pay(page);
  await says(page, `${walletFailed} (refused with -32000)`);
  const plainly = page.getByRole('button', { name: 'Pay by a transaction instead (costs a network fee)' });
  await plainly.waitFor();
  assert.deepEqual(sends(wallet), ['eth_signTypedData_v4']);
  await plainly.click();
  await paid(page);
  assert.deepEqual(sends(wallet), ['eth_signTypedData_v4', 'eth_sendTransaction', 'eth_sendTransaction']);
  await page.close();
});

test('a wallet that sends the allowance and then reports an error is told in the page’s words, and pays at the next press', async () => {
  const { page, wallet } = await visit('usdt');
  wallet.wrongAnswers.set('eth_sendTransaction', new WalletError(-32_603, 'Internal error'));
  await pay(page);
  await says(page, `${walletFailed} (Internal error)`);
  wallet.wrongAnswers.clear();
  const usdt = life.ethereum.token('usdt');
  while ((await wallet.allowance(life.ethereum, usdt)) !== 25_000_000n) await life.ethereum.anvil.mine();
  await pay(page);
  await paid(page);
  assert.deepEqual(sends(wallet), ['eth_sendTransaction', 'eth_sendTransaction']);
  await page.close();
});

test('an order that the service refuses for good is asked for once, and nothing more of the wallet', async () => {
  const { page, wallet } = await visit('usdt');
  const held = wallet.holdAnswer('eth_sendTransaction');
  let prepares = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/prepare')) prepares += 1;
  });
  await pay(page);
  await page.locator('#step').getByText('allow exactly').waitFor();
  await life.database.db.query(endSession, { sessionId: sessionIdOf(page) });
  held.answer();
  await says(page, 'The time to pay is over.');
  assert.deepEqual([prepares, sends(wallet)], [2, ['eth_sendTransaction']]);
  await page.close();
});

test('a payment that no block shows is said to be so after half a minute, with what to do if it was cancelled', async () => {
  const { page, wallet } = await visit('usdt');
  await wallet.approve(life.ethereum, life.ethereum.token('usdt'), 25_000_000n);
  wallet.madeUp.set('eth_sendTransaction', `0x${'ab'.repeat(32)}`);
  await page.clock.install();
  await pay(page);
  const step = page.locator('#step');
  await step.getByText('Waiting for Ethereum to show the payment…').waitFor();
  await page.clock.fastForward(25_000);
  await step.getByText('Waiting for Ethereum to show the payment…').waitFor();
  await page.clock.fastForward(6_000);
  await step
    .getByText('If you cancelled it in your wallet, wait two minutes: then you can pay again')
    .waitFor();
  await page.clock.fastForward(90_000);
  await says(page, 'Ethereum does not show the transaction yet.');
  await page.locator('#pay-button').waitFor();
  await page.close();
});

test('an allowance that no block shows is said to be so after half a minute, and can be given up', async () => {
  const { page, wallet } = await visit('usdt');
  wallet.madeUp.set('eth_sendTransaction', `0x${'ab'.repeat(32)}`);
  await page.clock.install();
  await pay(page);
  const step = page.locator('#step');
  await step.getByText('Confirming on Ethereum…').waitFor();
  const unseen = step.getByText('Ethereum does not show the transaction yet. Check your wallet');
  // The page asks once in a second, and for more time where an answer takes some.
  for (let seconds = 0; seconds < 120 && (await unseen.count()) === 0; seconds += 1) {
    await page.clock.fastForward(1_000);
    await page.waitForTimeout(20);
  }
  await unseen.waitFor();
  wallet.madeUp.clear();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await says(page, 'Stopped.');
  await pay(page);
  await paid(page);
  await page.close();
});

test('a payment that the service sends asks nothing of its payer, also after a reload and half a minute', async () => {
  const { page } = await visit('usdc');
  await life.pauseMining();
  await pay(page);
  const step = page.locator('#step');
  const sending = step.getByText('The service sends your payment on Ethereum. You need not do anything.');
  await sending.waitFor();
  await page.clock.install();
  await page.reload();
  await sending.waitFor();
  await page.locator('.stages [aria-current=step]').getByText('Confirming').waitFor();
  await page.clock.fastForward(35_000);
  await sending.waitFor();
  life.mine();
  await paid(page);
  await page.close();
});

test('what only a wallet has seen ticks no step: neither an allowance nor a payment that it made up', async () => {
  const { page, wallet } = await visit('usdt');
  wallet.madeUp.set('eth_sendTransaction', `0x${'ab'.repeat(32)}`);
  wallet.madeUp.set('eth_getTransactionReceipt', { status: '0x1' });
  await pay(page);
  await page.locator('#step').getByText('Waiting for Ethereum to show the payment…').waitFor();
  // The allowance is struck out, and the payment is the step that the page is at.
  assert.deepEqual(await page.locator('.stages .dot').allTextContents(), ['✓', '–', '3', '4', '5']);
  assert.equal(await page.locator('.stages [aria-current=step]').textContent(), '3Pay');
  await page.close();
});

test('a signature whose answer is lost ticks no step before the service has answered', async () => {
  const { page, wallet } = await visit('usdc');
  await page.route('**/submit*', (route) => route.abort());
  await life.pauseMining();
  await pay(page);
  await page.locator('#step').getByText('Waiting for Ethereum to show the payment…').waitFor();
  const signs = () => page.locator('.stages .dot').allTextContents();
  assert.deepEqual(await signs(), ['✓', '–', '3', '4', '5']);
  await page.unroute('**/submit*');
  await page.locator('.stages [aria-current=step]', { hasText: '4' }).waitFor();
  assert.deepEqual(await signs(), ['✓', '–', '✓', '4', '5']);
  life.mine();
  await paid(page);
  assert.deepEqual(sends(wallet), ['eth_signTypedData_v4']);
  await page.close();
});

test('if a wallet does not know the network and cannot add it, the page names the network to change to', async () => {
  const { page, wallet } = await visit('usdc', (taught) => {
    taught.current = 31_338;
    taught.known.delete(31_337);
    taught.fails.set('wallet_addEthereumChain', 4200);
  });
  await pay(page);
  await says(page, 'Switch your wallet to');
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
  assert.equal(await page.getByText('to show the payment').count(), 0);
  await page.close();
});

test('a token that the payer has chosen stays chosen through changes of the account', async () => {
  const { page, wallet } = await visit('usdc');
  const other = `0x${'b8'.repeat(20)}` as const;
  for (const holder of [wallet.address, other])
    await life.ethereum.mint(life.ethereum.token('usdt'), holder, 30_000_000n);
  await life.ethereum.mint(life.ethereum.token('usdc'), other, 30_000_000n);
  await chooseWay(page, 'USDT', 'Ethereum');
  await wallet.emit('accountsChanged', [other]);
  await page.getByText('0xb8b8…b8b8').waitFor();
  await page.locator('#way').getByText('You have 30.00 USDT').waitFor();
  await wallet.emit('accountsChanged', [wallet.address]);
  await page.locator('#way').getByText('You have 30.00 USDT').waitFor();
  await page.close();
});

test('changing the account ends the request to the first one, and the new one pays in the same token when its owner confirms', async () => {
  const { page, wallet } = await visit('usdt');
  const other = `0x${'a7'.repeat(20)}` as const;
  await life.ethereum.mint(life.ethereum.token('usdc'), other, 30_000_000n);
  const held = wallet.hold('eth_sendTransaction');
  await pay(page);
  await held.opened;
  await wallet.emit('accountsChanged', [other]);
  await says(page, 'Your wallet has changed to another account.');
  await page.getByText('0xa7a7…a7a7').waitFor();
  await page.locator('#lack').getByText('USDT more on Ethereum').waitFor();
  await wallet.emit('accountsChanged', [wallet.address]);
  await page.locator('#way').getByText('You have 30.00 USDT').waitFor();
  await pay(page);
  await paid(page);
  await page.close();
});

test('a wallet with too little is told what is missing, and can pay in another token or from elsewhere', async () => {
  const { page, wallet } = await visit('usdc', (own) => {
    own.current = life.base.chain.chainId;
  });
  await wallet.fund(life.base, life.base.token('usdc'), 10_000_000n);
  await page.reload();
  await chooseWay(page, 'USDC', 'Base');
  const lack = page.locator('#lack').getByText(/^You need 1\d\.\d\d\sUSDC more on Base\.$/);
  await lack.waitFor();
  // Pay keeps its place in the order of the keys and says why it does nothing.
  const payButton = page.locator('#pay-button[aria-disabled=true][aria-describedby=lack]');
  await payButton.focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.locator('#problem').textContent(), '');
  assert.equal(await page.getByText(/You need/).count(), 1);
  // On a phone, the bar with the ways on covers nothing.
  const before = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  const [wallets, bar] = await Promise.all(
    ['.wallets', '#bar'].map((part) => page.locator(part).boundingBox()),
  );
  assert.ok(wallets && bar && wallets.y + wallets.height <= bar.y);
  if (before !== null) await page.setViewportSize(before);
  // One press chooses the other way and begins to pay.
  wallet.refused.add('wallet_switchEthereumChain');
  await page.getByRole('button', { name: /^Pay 2\d\.\d\d\sUSDC on Ethereum$/ }).click();
  await says(page, 'You declined in your wallet.');
  wallet.refused.clear();
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  assert.equal((await lack.count()) + (await page.locator('#short').count()), 0);
  // A payer who has got more meanwhile presses Pay: the page looks again, and asks for nothing yet.
  await chooseWay(page, 'USDC', 'Base');
  await lack.waitFor();
  await wallet.fund(life.base, life.base.token('usdc'), 20_000_000n);
  await payButton.focus();
  await page.keyboard.press('Enter');
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  assert.equal(await lack.count(), 0);
  // The wallet's own network comes first when it has the money, although it costs more.
  await page.reload();
  await page.locator('#way').getByText('USDC on Base').waitFor();
  await chooseWay(page, 'DAI', 'Base');
  await page.locator('#send-elsewhere').click();
  await page.locator('#refund-input').waitFor();
  assert.equal(await page.locator('#refund-input').inputValue(), wallet.address.toLowerCase());
  await page.close();
});

test('a payer without a wallet here pays with one on another device, whose module is loaded when it is chosen', async () => {
  const { page, wallet, complaints } = await visitWithout({ phone: false });
  const moduleUrls = () => complaints.urls.filter((url) => url.includes('walletconnect-module'));
  const choice = page.getByRole('button', { name: 'WalletConnect' });
  await choice.waitFor();
  // Another wallet's choice does not hide that this browser has none.
  await page.getByRole('button', { name: 'Pay with your phone' }).waitFor();
  assert.deepEqual(moduleUrls(), []);
  await choice.click();
  const code = page.getByRole('dialog').getByRole('img', { name: 'QR code' });
  await code.waitFor();
  assert.equal(moduleUrls().length, 1);
  assert.equal(await readCode(code), linkUri);
  const link = page.getByRole('link', { name: 'Open in a wallet app' });
  assert.equal(await link.getAttribute('href'), linkUri);
  await page.getByRole('button', { name: 'Close' }).click();
  await says(page, 'You declined in your wallet.');
  await choice.click();
  await code.waitFor();
  await page.evaluate('globalThis.scan()');
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  const { projectId, optionalChains, showQrModal } =
    await page.evaluate<Record<string, unknown>>('globalThis.remoteOptions');
  assert.deepEqual(
    { projectId, optionalChains, showQrModal },
    { projectId: '4f'.repeat(16), optionalChains: [31_337, 31_338], showQrModal: false },
  );
  await pay(page);
  await paid(page);
  assert.deepEqual(sends(wallet), ['eth_signTypedData_v4']);
  assert.deepEqual(complaints.errors, []);
  await page.close();
});

test('on a phone the wallet apps stay, and only payment pages may reach the relay', async () => {
  const { page, complaints } = await visitWithout({ phone: true });
  await page.getByRole('button', { name: 'WalletConnect' }).waitFor();
  assert.equal(await page.locator('#apps a').count(), 6);
  await page.getByRole('button', { name: 'WalletConnect' }).click();
  await page.evaluate('globalThis.scan()');
  await page.locator('#way').getByText('You have 30.00 USDC').waitFor();
  await page.close();
  const relay = 'wss://relay.walletconnect.org';
  const policyOf = async (path: string) => {
    const { headers } = await fetch(`${life.options.origin}${path}`);
    return headers.get('content-security-policy') ?? '';
  };
  const { pathname } = new URL(complaints.urls[0] ?? '');
  assert.ok((await policyOf(pathname)).includes(relay));
  assert.ok(!(await policyOf('/link/none')).includes('walletconnect'));
});
