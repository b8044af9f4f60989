import { florin, insertOrder, products } from '../../../shop.js';

const { SHOP_URL = 'http://127.0.0.1:3000' } = process.env;

export async function POST(request) {
  const product = (await request.formData()).get('product');
  if (!Object.hasOwn(products, product)) return new Response('unknown product', { status: 404 });
  const order = crypto.randomUUID();
  const page = `${SHOP_URL}/orders/${order}`;
  const session = await florin().checkout.sessions.create(
    {
      settlementToken: 'base::usdc',
      lineItems: [products[product]],
      successUrl: page,
      metadata: { order },
    },
    { idempotencyKey: order },
  );
  insertOrder(order, product, session);
  return Response.redirect(page, 303);
}
