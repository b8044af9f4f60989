import Florin, { FlorinError, formatUsd, usd } from '@florin/sdk';
import { honoWebhook } from '@florin/sdk/webhooks';
import { Hono } from 'hono';
import { html } from 'hono/html';

const products = new Map([
  ['coffee', { name: 'Flat white', price: usd('4.50') }],
  ['mug', { name: 'Florin mug', price: usd('25') }],
]);

/** What an event makes of the order of its session, and from which states. Repeated, it changes nothing. */
const moves = {
  'session.paid': { from: ['open', 'expired'], to: 'paid' },
  'session.expired': { from: ['open'], to: 'expired' },
  'refund.completed': { from: ['paid'], to: 'refunded' },
};

let client;
/** The settings of a worker come with its first request. */
const florinOf = ({ FLORIN_KEY, FLORIN_URL }) => {
  client ??= new Florin(FLORIN_KEY, { baseUrl: FLORIN_URL });
  return client;
};

const app = new Hono();

app.post('/webhooks/florin', (context) => {
  const { DB, FLORIN_WEBHOOK_KEY, TOLERANCE_SECONDS = '300' } = context.env;
  const options = { secret: FLORIN_WEBHOOK_KEY, toleranceSeconds: Number(TOLERANCE_SECONDS) };
  const receive = honoWebhook(options, async ({ type, data }) => {
    const move = moves[type];
    if (move === undefined) return;
    const { sessionId } = data.session ?? data.refund;
    const states = move.from.map(() => '?').join();
    const update = `update orders set status = ? where session_id = ? and status in (${states})`;
    await DB.prepare(update)
      .bind(move.to, sessionId, ...move.from)
      .run();
  });
  return receive(context);
});

app.get('/', (context) => {
  const forms = [...products].map(
    ([id, { name, price }]) =>
      html`<form method="post" action="/buy/${id}">${name} $${formatUsd(price)} <button>Buy</button></form>`,
  );
  return context.html(page('Shop', forms));
});

app.post('/buy/:product', async ({ env, req, redirect, notFound }) => {
  const product = products.get(req.param('product'));
  if (product === undefined) return notFound();
  const order = crypto.randomUUID();
  await env.DB.prepare('insert into orders (order_id, product) values (?, ?)')
    .bind(order, req.param('product'))
    .run();
  // The order's number makes a repetition safe: it finds the session that the first try has made.
  const session = await florinOf(env).checkout.sessions.create(
    {
      settlementToken: 'base::usdc',
      lineItems: [product],
      successUrl: `${env.SHOP_URL}/orders/${order}`,
      metadata: { order },
    },
    { idempotencyKey: order },
  );
  const open = `update orders set session_id = ?, payment_url = ?, status = 'open' where order_id = ? and status = 'new'`;
  await env.DB.prepare(open).bind(session.sessionId, session.paymentUrl, order).run();
  return redirect(session.paymentUrl, 303);
});

app.get('/orders/:order', async (context) => {
  const find = context.env.DB.prepare('select product, payment_url, status from orders where order_id = ?');
  const order = await find.bind(context.req.param('order')).first();
  if (order === null) return context.notFound();
  const pay = order.status === 'open' ? html`<p><a href="${order.payment_url}">Pay</a></p>` : '';
  return context.html(
    page(`Order: ${order.status}`, html`<p>${products.get(order.product)?.name}</p>${pay}`),
  );
});

app.onError((error, context) => {
  const { slug, code, docUrl, requestId, message } = error;
  // The page of the error, and the request that the operator finds in the log.
  console.error(error instanceof FlorinError ? { slug, code, docUrl, requestId, message } : error);
  return context.json({ error: error instanceof FlorinError ? slug : 'internal' }, 500);
});

function page(title, body) {
  return html`<!doctype html>
    <meta name="viewport" content="width=device-width" />
    <title>${title}</title>
    <h1>${title}</h1>
    ${body}`;
}

export default app;
