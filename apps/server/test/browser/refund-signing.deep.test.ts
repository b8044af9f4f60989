import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PaymentException } from '@florin/protocol/exception.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import type { Route } from 'playwright-core';
import { ledgerSums } from '#ledger/entry.ts';
import { findOrder } from '#orders/order.ts';
import { settleCall } from '#settlement/settlement-call.ts';
import { password } from '../harness/dashboard-world.ts';
import { alternative, Payer } from '../life/payer.ts';
import { checkout } from '../life/story-fixture.ts';
import {
  ada,
  adasWallet,
  balanceOf,
  bob,
  bobsWallet,
  completed,
  dollar,
  life,
  openRefund,
  prove,
  refundedOf,
  settledPayment,
  signButton,
  token,
  useMembers,
  visit,
} from './two-members.ts';

useMembers();

test('a member signs a refund in the browser’s wallet, after declining it once', async () => {
  const { sessionId, payer } = await settledPayment();
  const earlier = await balanceOf(payer);
  await visit(ada, `refunds/${await openRefund(sessionId, 4 * dollar)}`);
  const declined = adasWallet.refuseNext('eth_sendTransaction');
  await signButton(ada).click();
  await declined;
  await ada.getByRole('alert').getByText('The wallet did not sign').waitFor();
  await ada.getByRole('button', { name: 'Start again' }).click();
  await completed(ada);
  assert.equal(await balanceOf(payer), earlier + 4n * BigInt(dollar));
  assert.equal((await life.session(sessionId)).session.status, 'completed');
});

test('a proof that would end while the approvals are mined is asked for before the wallet is', async () => {
  const { sessionId } = await settledPayment();
  await visit(ada, `refunds/${await openRefund(sessionId, dollar)}`);
  await signButton(ada).waitFor();
  const endsSoon = async (route: Route) => {
    const response = await route.fetch();
    const { data, ...envelope } = await response.json();
    await route.fulfill({ response, json: { ...envelope, data: { ...data, freshSeconds: 60 } } });
  };
  await ada.route('**/dashboard/api/me', endsSoon, { times: 1 });
  const sentBefore = adasWallet.transactions.length;
  await signButton(ada).click();
  const dialog = ada.getByRole('dialog', { name: 'Confirm that it is you' });
  await dialog.getByText('Signing a refund needs a proof').waitFor();
  assert.equal(adasWallet.transactions.length, sentBefore);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await ada.getByRole('alert').getByText('You did not confirm that it is you').waitFor();
  await ada.route('**/dashboard/api/me', endsSoon, { times: 1 });
  await ada.getByRole('button', { name: 'Start again' }).click();
  await dialog.getByLabel('Password', { exact: true }).fill(password);
  await dialog.getByRole('button', { name: 'Confirm' }).click();
  await completed(ada);
  assert.equal(await ada.getByRole('dialog').count(), 0);
});

/** Lets a page's reads of an address be answered without a member, as by a service that does not know it. */
async function leaveOut(address: string, member: string): Promise<void> {
  await ada.route(address, async (route) => {
    const response = await route.fetch();
    const { data, ...envelope } = await response.json();
    await route.fulfill({ response, json: { ...envelope, data: { ...data, [member]: undefined } } });
  });
}

test('Home and a refund work where a web process of the version before answers, as during an update', async () => {
  const { sessionId } = await settledPayment();
  const refundId = await openRefund(sessionId, dollar);
  const [summary, signing] = ['**/dashboard/api/summary', '**/refund/signing/*'];
  await leaveOut(summary, 'closedLinks');
  await leaveOut(signing, 'status');
  const answered = ada.waitForResponse(summary);
  await visit(ada, '');
  await answered;
  await ada.waitForLoadState('networkidle');
  assert.equal(await ada.getByRole('heading', { name: 'Home' }).count(), 1);
  await visit(ada, `refunds/${refundId}`);
  await signButton(ada).click();
  await completed(ada);
  for (const address of [summary, signing]) await ada.unroute(address);
});

test('of two members who sign in the same moment, one wallet is asked, and the other member sees whose', async () => {
  const { sessionId, payer } = await settledPayment();
  const earlier = await balanceOf(payer);
  const refundId = await openRefund(sessionId, 3 * dollar);
  const members = [
    { name: 'Ada', page: ada, wallet: adasWallet },
    { name: 'Bob', page: bob, wallet: bobsWallet },
  ];
  for (const { page } of members) {
    await visit(page, `refunds/${refundId}`);
    await signButton(page).waitFor();
  }
  const prompts = members.map(({ wallet }) => wallet.hold('eth_sendTransaction'));
  const sentBefore = members.map(({ wallet }) => wallet.transactions.length);
  // At once, or not at all: on a slow machine one page may know of the other's signing already.
  const click = `[...document.querySelectorAll('button')].find((each) => each.textContent === 'Connect and sign')?.click()`;
  await Promise.all(members.map(({ page }) => page.evaluate(click)));
  const asked = await Promise.race(prompts.map(({ opened }, index) => opened.then(() => index)));
  const [signer, other] = asked === 0 ? members : members.toReversed();
  assert.ok(signer !== undefined && other !== undefined);
  await other.page.getByText(`${signer.name} asked the wallet`).waitFor();
  assert.equal(await signButton(other.page).count(), 0);
  for (const { answer } of prompts) answer();
  for (const { page } of members) await completed(page);
  assert.equal(await balanceOf(payer), earlier + 3n * BigInt(dollar));
  const sent = members.map(({ wallet }, index) => wallet.transactions.length - (sentBefore[index] ?? 0));
  assert.deepEqual(sent.toSorted(), [0, 1]);
});

test('a page that is closed while its wallet is asked leaves a warning, and another member can sign in its place', async () => {
  const { sessionId, payer } = await settledPayment();
  const earlier = await balanceOf(payer);
  const refundId = await openRefund(sessionId, dollar);
  await visit(ada, `refunds/${refundId}`);
  const asked = adasWallet.hold('eth_sendTransaction');
  await signButton(ada).click();
  await asked.opened;
  adasWallet.fails.set('eth_sendTransaction', -32_603);
  await ada.goto('about:blank');
  asked.answer();
  await visit(bob, `refunds/${refundId}`);
  await bob.getByText('A wallet may have sent the refund').waitFor();
  await prove(bob);
  await bob.getByRole('button', { name: 'Sign again' }).click();
  const dialog = bob.getByRole('dialog');
  await dialog.getByText('A second transaction of a partial refund pays the payer twice.').waitFor();
  await dialog.getByRole('button', { name: 'Sign again' }).click();
  await completed(bob);
  adasWallet.fails.clear();
  assert.equal(await balanceOf(payer), earlier + BigInt(dollar));
});

test('a refund whose wallet does not answer is withdrawn, and counts once when the wallet signs after all', async () => {
  const { sessionId, payer } = await settledPayment();
  const earlier = await balanceOf(payer);
  const refundId = await openRefund(sessionId, dollar);
  const nextId = await openRefund(sessionId, 2 * dollar);
  await visit(ada, `refunds/${refundId}`);
  const asked = adasWallet.hold('eth_sendTransaction');
  await signButton(ada).click();
  await asked.opened;
  await visit(bob, `refunds/${refundId}`);
  await bob.getByText('A wallet may have sent the refund').waitFor();
  await prove(bob);
  await bob.getByRole('button', { name: 'Withdraw refund' }).click();
  const dialog = bob.getByRole('dialog');
  await dialog.getByText('This does not reach that wallet. If it still asks, decline there.').waitFor();
  await dialog.getByRole('button', { name: 'Withdraw' }).click();
  await bob.getByText('You withdrew this refund').waitFor();
  await visit(bob, `refunds/${nextId}`);
  await bob.getByText('A wallet may still send a withdrawn refund of this payment').waitFor();
  assert.equal(await signButton(bob).count(), 0);
  asked.answer();
  await ada.getByText('though you withdrew this refund').waitFor();
  assert.equal(await balanceOf(payer), earlier + BigInt(dollar));
  assert.equal(await refundedOf(sessionId), dollar);
  await signButton(bob).waitFor();
});

test('a refund that a member withdraws is not signed, and shows as paid when another tool has sent it', async () => {
  const { sessionId, payer } = await settledPayment();
  const earlier = await balanceOf(payer);
  const amount = 2 * dollar;
  const refund = await life.post<Refund>('/refund/create', { sessionId, amount });
  await visit(bob, `refunds/${refund.refundId}`);
  await prove(bob);
  await bob.getByRole('button', { name: 'Withdraw refund' }).click();
  await bob.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
  await bob.getByText('You withdrew this refund').waitFor();
  assert.equal(await signButton(bob).count(), 0);

  const tool = new Payer(life);
  await tool.fund(life.ethereum, token(), BigInt(amount));
  const requests = [...(refund.prerequisites ?? []).map(({ txRequest }) => txRequest), refund.txRequest];
  for (const request of requests) if (request !== undefined) await tool.send(life.ethereum, request);
  await bob.getByText('though you withdrew this refund').waitFor();
  assert.equal(await balanceOf(payer), earlier + BigInt(amount));
  assert.equal(await refundedOf(sessionId), amount);
  await visit(bob, 'audit');
  // The filter's choices have the same words.
  await bob.getByText('Withdrew a refund').filter({ visible: true }).first().waitFor();
});

test('a payment that comes in two transfers shows its part on Home and in the list, and both on its page', async () => {
  const payer = new Payer(life);
  const sessionId = await checkout(life, 10 * dollar, token().tokenId);
  const { address = '', amountInToken = '' } = alternative(
    await payer.prepare(sessionId, token()),
    'deposit',
  );
  const rest = 4n * BigInt(dollar);
  await life.ethereum.mint(token(), address as `0x${string}`, BigInt(amountInToken) - rest);
  const row = ada.getByRole('row').filter({ hasText: 'Part received' });
  await visit(ada, '');
  await row.getByText(/^6\.\d\d of 10\.\d\d USDC received$/).waitFor();
  await visit(ada, 'payments');
  await row.getByText(/^6\.\d\d of 10\.\d\d USDC received$/).waitFor();
  await row.click();
  await ada.getByText('4.00 USDC are missing').waitFor();
  await life.ethereum.mint(token(), address as `0x${string}`, rest);
  await life.sessionIn(sessionId, 'completed');
  const timeline = ada.getByRole('complementary', { name: 'What happened' });
  await timeline.getByText('Settled to your wallet').waitFor();
  // Anyone may have sent it: the chain's payer is where it would have gone back to.
  await ada
    .getByText(/^Refund address/)
    .nth(1)
    .waitFor();
  assert.deepEqual(
    (await timeline.getByText('USDC arrived by transfer').allTextContents()).map(
      (text) => text.split(' ')[0],
    ),
    ['6.00', '4.00'],
  );
  assert.equal(await ada.getByText('A part of the payment has arrived').count(), 0);
});

// The last two move the time of a chain ahead.
test('a second payment that a stranger settled goes back by a button of its exception', async () => {
  const usd = 10n * BigInt(dollar);
  const [first, payer] = [new Payer(life), new Payer(life)];
  await first.fund(life.base, life.base.token('usdc'), 2n * usd);
  await payer.fund(life.ethereum, token(), usd);
  const sessionId = await checkout(life, 10 * dollar, token().tokenId);
  const [onBase, onEthereum] = [
    await first.prepare(sessionId, life.base.token('usdc')),
    await payer.prepare(sessionId, token()),
  ];
  await first.execute(life.base, onBase);
  await life.sessionIn(sessionId, 'completed');
  await life.pauseMining();
  await payer.execute(life.ethereum, onEthereum);
  await life.ethereum.anvil.mine();
  // The payment is in a block, but not final yet, so Florin sends nothing. A day later anyone can settle.
  await life.ethereum.anvil.request('evm_increaseTime', [86_400]);
  const { orderId } = onEthereum.aiView.paymentExecutionGuide.order;
  const order = await findOrder(life.database.db, orderId);
  assert.ok(order !== undefined);
  const { chainId, gateway } = life.ethereum.chain;
  const settle = { chainId: String(chainId), to: gateway, data: settleCall([order]), value: '0' };
  await payer.send(life.ethereum, settle);
  life.mine();
  const listed = async () => {
    const { exceptions } = await life.get<{ exceptions: PaymentException[] }>('/exception/list/1/100');
    return exceptions.filter((each) => each.sessionId === sessionId);
  };
  const settledTwice = (all: PaymentException[]) => all.some(({ kind }) => kind === 'duplicate_settled');
  await life.eventually(listed, settledTwice, 'the second settlement');
  assert.equal(await balanceOf(payer), 0n);

  await adasWallet.fund(life.ethereum, token(), usd);
  await adasWallet.approve(life.ethereum, token(), usd);
  await visit(ada, 'exceptions');
  await prove(ada);
  await ada.getByText('Paid twice, and settled twice').first().click();
  await ada.getByRole('button', { name: 'Return it' }).click();
  await ada.getByRole('button', { name: 'Go on to sign' }).click();
  await ada.getByText(payer.address.slice(0, 6)).first().waitFor();
  await signButton(ada).click();
  await completed(ada);
  assert.equal(await balanceOf(payer), usd);
  const resolved = await listed();
  assert.deepEqual(
    resolved.map(({ kind, status, resolvedTx }) => [kind, status, resolvedTx !== '']),
    [
      ['duplicate_settled', 'resolved', true],
      ['duplicate', 'resolved', true],
    ],
  );
  assert.equal(await refundedOf(sessionId), 0);
  await visit(ada, `exceptions?tab=resolved&exception=${resolved[0]?.exceptionId}`);
  await ada.getByText('The money is back with its payer.').waitFor();
  assert.ok((await ledgerSums(life.database.db)).every(({ total }) => total === 0n));
});

test('money that came late is an exception, which a member accepts as the payment', async () => {
  const late = life.base.token('usdc');
  // From here on, this chain's time is past the deadline of every order.
  await life.base.anvil.request('evm_increaseTime', [3_600]);
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: 'A thing',
    commonPrices: [10 * dollar],
  });
  const { linkId } = await life.post<{ linkId: string }>('/payment/link/create', {
    ...{ linkType: 'fixed', linkName: 'A link', accountId: life.accountId, settlementToken: late.tokenId },
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, unitPrice: 10 * dollar }],
    exceptionPolicy: { latePayment: 'ask', lateHours: 24 },
  });
  const payer = new Payer(life);
  const sessionId = await payer.createSession(linkId, late);
  const { address = '', amountInToken = '' } = alternative(await payer.prepare(sessionId, late), 'deposit');
  await life.sessionIn(sessionId, 'expired');
  await life.base.mint(late, address as `0x${string}`, BigInt(amountInToken));
  const held = () => life.get<{ exceptions: PaymentException[] }>('/exception/list/1/100');
  const isThere = ({ exceptions }: { exceptions: PaymentException[] }) =>
    exceptions.some(({ kind }) => kind === 'late');
  await life.eventually(held, isThere, 'the late deposit');
  await visit(ada, 'exceptions');
  await prove(ada);
  await ada.getByText('The money came late').first().click();
  await ada.getByRole('button', { name: 'Accept' }).click();
  await ada.getByRole('dialog').getByRole('button', { name: 'Accept' }).last().click();
  await ada.getByText('Accepted').first().waitFor();
  const { session } = await life.sessionIn(sessionId, 'completed');
  assert.equal((session as { late?: true }).late, true);
});
