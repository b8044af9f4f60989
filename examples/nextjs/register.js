import Florin from '@florin/sdk';

const { FLORIN_KEY, FLORIN_URL, SHOP_URL = 'http://127.0.0.1:3000' } = process.env;
const florin = new Florin(FLORIN_KEY, { baseUrl: FLORIN_URL });

// The shop's pages may frame the checkout, and hear what became of a payment.
const listed = (await florin.branding.retrieve()).embedOrigins;
await florin.branding.update({ embedOrigins: [...new Set([...listed, new URL(SHOP_URL).origin])] });

const { key } = await florin.webhooks.create({
  webhookName: 'Next.js shop',
  webhookUrl: `${SHOP_URL}/webhooks/florin`,
  subscribedEvents: ['session.*', 'refund.*'],
});
console.log(key);
