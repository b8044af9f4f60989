import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ThrowAwayDatabase } from '@florin/pg';
import { type FlorinEvent, microUsd, type Session, usd } from '@florin/sdk';
import { fixture, sign, startWorld, type TestWorld } from '@florin/sdk/testing';
import { findFreePort } from '@florin/world';
import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { copyCheckout } from '../harness/checkout-copy.ts';
import { emptyDatabase } from '../harness/database.ts';
import { commandsOf, runCommands, startCommands, until } from './example.ts';
import { VendureCart, VendureClient } from './vendure-client.ts';

/** The plugin in Vendure itself, on PostgreSQL, by the commands of the example's README, with payments of a world. */

let checkout: string;
let world: TestWorld;
let database: ThrowAwayDatabase;
let shop: AsyncDisposable;
let url: string;
let staff: VendureClient;
let webhookKey: string;

before(async () => {
  checkout = copyCheckout();
  world = await startWorld({ checkout, home: join(checkout, '.florin') });
  database = await emptyDatabase();
  const port = String(await findFreePort());
  url = `http://127.0.0.1:${port}`;
  const folder = join(checkout, 'examples/vendure-shop');
  const settings = { SHOP_URL: url, DATABASE_URL: database.url, STAFF_PASSWORD: 'staff' };
  shop = await startCommands(folder, commandsOf(folder), { url: `${url}/health`, settings });
  const visitor = new VendureClient(url, 'shop-api');
  await until(
    () => 'two products',
    async () => (await visitor.variants()).length === 2,
  );
  staff = new VendureClient(url, 'admin-api');
  await staff.ask('mutation { login(username: "superadmin", password: "staff") { __typename } }');
  const [webhook] = await world.florin.webhooks.list().toArray({ limit: 10 });
  webhookKey = webhook?.key ?? '';
});
after(async () => {
  await shop?.[Symbol.asyncDispose]();
  await database?.close();
  await world?.stop();
  rmSync(checkout, { recursive: true });
});

async function deliver(event: FlorinEvent, key = webhookKey): Promise<number> {
  const signed = await sign(event, key);
  return (await fetch(`${url}/payments/florin`, { method: 'POST', ...signed })).status;
}

/** The event of a payment that the world need not make. */
async function paidEvent(sessionId: string, changes: Partial<Session> = {}): Promise<FlorinEvent> {
  const { session } = await world.florin.sessions.retrieve(sessionId);
  return fixture('session.paid', { ...session, status: 'paid', payer: '0xpayer', ...changes });
}

/** A cart of one coffee whose customer pays now. */
function openCart(): Promise<VendureCart> {
  return VendureCart.open(url, staff);
}

test('publint and are-the-types-wrong find nothing in the package', async () => {
  const folder = join(checkout, 'examples/vendure-shop');
  const tools = 'publint@0.3.25 @arethetypeswrong/cli@0.18.5';
  const tarball = '../florin-vendure-0.1.0.tgz';
  const check = `mkdir tools && cd tools && npm init --yes >init.log && npm install --ignore-scripts ${tools} >install.log
    npx publint run --strict ${tarball} && npx attw ${tarball}`;
  assert.match(await runCommands(folder, check), /All good![\s\S]*No problems found/);
});

test('an order is paid on the payment page, and settled in the shop by the webhook alone', async () => {
  const cart = await openCart();
  const stranger = await cart.client
    .ask(`mutation { addPaymentToOrder(input: { method: "stablecoins", metadata: {} }) { __typename } }`)
    .catch((error: Error) => error.message);
  assert.match(String(stranger), /use the mutation createFlorinPayment/);
  const [{ sessionId, paymentUrl }, again] = await Promise.all([cart.pay(), cart.pay()]);
  assert.equal(again.sessionId, sessionId);
  assert.equal((await cart.pay()).sessionId, sessionId);
  const { session } = await world.florin.sessions.retrieve(sessionId);
  assert.deepEqual(
    [session.amount, session.metadata, session.successUrl, paymentUrl],
    [10_360_000, { vendureOrder: cart.code }, `${url}/orders/${cart.code}`, session.paymentUrl],
  );
  await world.pay(sessionId);
  await cart.reaches('PaymentSettled');
  const payments = await cart.payments();
  assert.deepEqual(payments, [{ state: 'Settled', amount: 1036, transactionId: sessionId }]);

  // The same event again, as often as it likes, and from others.
  const [event] = await world.florin.events.list({ type: 'session.paid' }).toArray({ limit: 1 });
  assert.ok(event !== undefined);
  assert.deepEqual(await Promise.all([deliver(event), deliver(event)]), [204, 204]);
  assert.equal(await deliver(event, `whsec_${'A'.repeat(43)}=`), 400);
  const { body, headers } = await sign(event, webhookKey);
  const changed = { method: 'POST', body: body.replace('10360000', '10360001'), headers };
  assert.equal((await fetch(`${url}/payments/florin`, changed)).status, 400);
  assert.equal(
    (
      await fetch(`${url}/payments/florin`, {
        method: 'POST',
        body,
        headers: { ...headers, 'webhook-timestamp': '1' },
      })
    ).status,
    400,
  );
  assert.deepEqual(await cart.payments(), payments);
  await assert.rejects(cart.pay(), /there is no active order/);
});

test('deliveries of one event at once make one payment', async () => {
  const cart = await openCart();
  const event = await paidEvent((await cart.pay()).sessionId);
  const statuses = await Promise.all(Array.from({ length: 5 }, () => deliver(event)));
  assert.deepEqual(statuses, [204, 204, 204, 204, 204]);
  assert.equal((await cart.payments()).length, 1);
  assert.equal(await cart.state(), 'PaymentSettled');
});

test('an event over another amount than the session was opened for changes nothing, and comes again', async () => {
  const cart = await openCart();
  const { sessionId } = await cart.pay();
  assert.equal(await deliver(await paidEvent(sessionId, { amount: microUsd(1) })), 500);
  assert.deepEqual([await cart.state(), await cart.payments()], ['ArrangingPayment', []]);
  // A session of another program of the merchant.
  assert.equal(await deliver(fixture('session.paid')), 204);
  assert.equal(await deliver(await paidEvent(sessionId)), 204);
  assert.equal(await cart.state(), 'PaymentSettled');
});

test('a cart that changes gets another session, and the earlier one is cancelled', async () => {
  const cart = await openCart();
  const earlier = await cart.pay();
  await cart.addAnother();
  const later = await cart.pay();
  assert.notEqual(later.sessionId, earlier.sessionId);
  const statusOf = async ({ sessionId }: { sessionId: string }) =>
    (await world.florin.sessions.retrieve(sessionId)).session;
  assert.deepEqual(
    [(await statusOf(earlier)).status, (await statusOf(later)).amount],
    ['cancelled', 15_710_000],
  );
});

test('what was paid for a smaller cart is recorded as it is, and the rest is asked for', async () => {
  const cart = await openCart();
  const { sessionId } = await cart.pay();
  await cart.addAnother({ pays: false });
  await deliver(await paidEvent(sessionId));
  assert.deepEqual(
    [await cart.state(), (await cart.payments()).map(({ amount }) => amount)],
    ['ArrangingPayment', [1036]],
  );
  const rest = await cart.pay();
  assert.equal((await world.florin.sessions.retrieve(rest.sessionId)).session.amount, 5_350_000);
  await deliver(await paidEvent(rest.sessionId));
  await cart.reaches('PaymentSettled');
});

test('a payment for a cancelled order is in its history for the staff', async () => {
  const cart = await openCart();
  const { sessionId } = await cart.pay();
  await staff.ask(`mutation { cancelOrder(input: { orderId: "${cart.id}" }) { __typename } }`);
  assert.equal(await deliver(await paidEvent(sessionId)), 204);
  assert.deepEqual([await cart.state(), await cart.payments()], ['Cancelled', []]);
  const [note] = await privateNotes(cart);
  assert.match(note ?? '', new RegExp(`received \\$10.36 \\(${sessionId}\\)`));
});

/** What the staff alone reads in the history of an order. */
async function privateNotes({ id }: VendureCart): Promise<(string | undefined)[]> {
  const { order } = await staff.ask<{
    order: { history: { items: { isPublic: boolean; data: { note?: string } }[] } };
  }>(`{ order(id: "${id}") { history { items { isPublic data } } } }`);
  return order.history.items
    .filter(({ isPublic, data }) => !isPublic && data.note !== undefined)
    .map(({ data }) => data.note);
}

test('a refund that was made at Florin alone is in the history, once the shop can have no part in it', async () => {
  const cart = await openCart();
  const { sessionId } = await cart.pay();
  await deliver(await paidEvent(sessionId));
  const refundedAt = (timeMs: number) => {
    const createAt = new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ');
    return fixture('refund.completed', { sessionId, amount: usd('2'), createAt });
  };
  assert.equal(await deliver(refundedAt(Date.now())), 500);
  assert.deepEqual(await privateNotes(cart), []);
  assert.equal(await deliver(refundedAt(Date.now() - 600_000)), 204);
  assert.match((await privateNotes(cart))[0] ?? '', /returned \$2\.00 \(rfd_/);
});

test('a refund waits for the wallet, and is settled in the shop once the chain has it', async () => {
  const cart = await openCart();
  const { sessionId } = await cart.pay();
  await world.pay(sessionId, { until: 'completed' });
  await cart.reaches('PaymentSettled');
  // The shop had asked for it, and crashed before it stored the answer.
  const asked = await world.florin.refunds.create(
    { sessionId, amount: usd('1'), reason: 'A cup was broken' },
    { idempotencyKey: `vendure refund 0 of ${sessionId}: 100` },
  );
  const first = await staff.refund(cart.id, 100);
  assert.equal(first.transactionId, asked.refundId);
  const second = await staff.refund(cart.id, 100);
  assert.deepEqual(
    [first.state, second.state, first.transactionId === second.transactionId],
    ['Pending', 'Pending', false],
  );
  assert.match((await staff.refund(cart.id, 837)).message ?? '', /amount/i);
  await world.florin.refunds.cancel(second.transactionId);
  await staff.refundReaches(cart.id, second.transactionId, 'Failed');
  const { merchantWallet, chains } = world.manifest;
  const rpcUrl = chains.find(({ name }) => name === 'base')?.rpcUrl ?? '';
  const account = privateKeyToAccount(merchantWallet.privateKey as `0x${string}`);
  const refund = await world.florin.refunds.retrieve(first.transactionId);
  assert.equal(refund.amount, 1_000_000);
  await refund.send(createWalletClient({ account, transport: http(rpcUrl) }));
  await staff.refundReaches(cart.id, first.transactionId, 'Settled');
  const { session } = await world.florin.sessions.retrieve(sessionId);
  assert.equal(session.refundedAmount, 1_000_000);
});
