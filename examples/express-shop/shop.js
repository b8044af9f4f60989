import { randomUUID } from 'node:crypto';
import Florin, { FlorinError, formatUsd, usd } from '@florin/sdk';
import { expressWebhook } from '@florin/sdk/webhooks';
import express from 'express';
import { createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { openStore } from './store.js';

const { FLORIN_KEY, FLORIN_URL, FLORIN_WEBHOOK_KEY, STAFF_TOKEN, MERCHANT_KEY, RPC_URL } = process.env;
const {
  SHOP_URL = 'http://127.0.0.1:3000',
  SHOP_DATABASE = 'shop.sqlite',
  TOLERANCE_SECONDS = '300',
} = process.env;
const florin = new Florin(FLORIN_KEY, { baseUrl: FLORIN_URL });
const store = openStore(SHOP_DATABASE);
const products = new Map([
  ['coffee', { name: 'Flat white', price: usd('4.50') }],
  ['mug', { name: 'Florin mug', price: usd('25') }],
]);

/** The status of an order after an event of its session. */
const statusAfter = { 'session.paid': 'paid', 'session.expired': 'expired' };

const app = express();

// Before any parser of bodies: the signature is over the bytes as they came.
const options = { secret: FLORIN_WEBHOOK_KEY, toleranceSeconds: Number(TOLERANCE_SECONDS) };
app.post(
  '/webhooks/florin',
  expressWebhook(options, (event) => {
    if (event.type === 'refund.completed') store.moveOnce(event.id, event.data.refund.sessionId, 'refunded');
    const status = statusAfter[event.type];
    if (status !== undefined) store.moveOnce(event.id, event.data.session.sessionId, status);
  }),
);

app.get('/', (_request, response) => {
  const forms = [...products].map(
    ([id, { name, price }]) =>
      `<form method="post" action="/buy/${id}">${name} $${formatUsd(price)} <button>Buy</button></form>`,
  );
  response.send(page('Shop', forms.join('')));
});

app.post('/buy/:product', async ({ params }, response) => {
  const product = products.get(params.product);
  if (product === undefined) return void response.sendStatus(404);
  const order = randomUUID();
  store.insert(order, params.product);
  response.redirect(303, (await openPayment(order, product)).paymentUrl);
});

/** The order's number makes a repetition safe: it finds the session that the first try has made. */
async function openPayment(order, product) {
  const session = await florin.checkout.sessions.create(
    {
      settlementToken: 'base::usdc',
      lineItems: [product],
      successUrl: `${SHOP_URL}/orders/${order}`,
      metadata: { order },
    },
    { idempotencyKey: order },
  );
  store.open(order, session);
  return session;
}

app.get('/orders/:order', ({ params }, response) => {
  const order = store.find(params.order);
  if (order === undefined) return void response.sendStatus(404);
  const pay = order.status === 'open' ? `<p><a href="${order.payment_url}">Pay</a></p>` : '';
  response.send(page(`Order: ${order.status}`, `<p>${products.get(order.product)?.name}</p>${pay}`));
});

/** Sends the money of an order back. After its settlement the shop's own wallet signs. */
app.post('/staff/refund/:order', async ({ params, headers }, response) => {
  if (STAFF_TOKEN === undefined || headers.authorization !== `Bearer ${STAFF_TOKEN}`)
    return void response.sendStatus(401);
  const order = store.find(params.order);
  if (order === undefined) return void response.sendStatus(404);
  const refund = await florin.refunds.create(
    { sessionId: order.session_id },
    { idempotencyKey: `refund ${params.order}` },
  );
  if (refund.status === 'requires_signature') {
    const account = privateKeyToAccount(MERCHANT_KEY);
    await refund.send(createWalletClient({ account, transport: http(RPC_URL) }));
  }
  response.json({ refundId: refund.refundId, status: refund.status });
});

app.use((error, _request, response, _next) => {
  console.error(error); // Of a FlorinError also its slug, code, docUrl and requestId.
  response.status(500).json({ error: error instanceof FlorinError ? error.slug : 'internal' });
});

function page(title, body) {
  return `<!doctype html><meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1>${body}`;
}

const { port, hostname } = new URL(SHOP_URL);
app.listen(Number(port), hostname, () => console.log(`the shop is at ${SHOP_URL}`));
