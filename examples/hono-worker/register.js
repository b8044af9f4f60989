import Florin from '@florin/sdk';

const { FLORIN_KEY, FLORIN_URL, SHOP_URL = 'http://127.0.0.1:3000' } = process.env;
const florin = new Florin(FLORIN_KEY, { baseUrl: FLORIN_URL });
const { key } = await florin.webhooks.create({
  webhookName: 'Hono worker',
  webhookUrl: `${SHOP_URL}/webhooks/florin`,
  subscribedEvents: ['session.*', 'refund.*'],
});
// The settings of the worker, as `wrangler dev` reads them.
console.log(
  Object.entries({ FLORIN_KEY, FLORIN_URL, SHOP_URL, FLORIN_WEBHOOK_KEY: key })
    .map((pair) => pair.join('='))
    .join('\n'),
);
