import Florin from '@florin/sdk';

const { FLORIN_KEY, FLORIN_URL, SHOP_URL = 'http://127.0.0.1:3000' } = process.env;
const florin = new Florin(FLORIN_KEY, { baseUrl: FLORIN_URL });
const { key } = await florin.webhooks.create({
  webhookName: 'Vendure shop',
  webhookUrl: `${SHOP_URL}/payments/florin`,
  subscribedEvents: ['session.*', 'refund.*'],
});
console.log(key);
