import { webhookHandler } from '@florin/sdk/webhooks';
import { moveOrder } from '../../../shop.js';

const options = {
  secret: () => process.env.FLORIN_WEBHOOK_KEY,
  toleranceSeconds: Number(process.env.TOLERANCE_SECONDS ?? '300'),
};

export const POST = webhookHandler(options, ({ type, data }) => {
  if (type === 'session.paid') moveOrder(data.session.sessionId, 'open expired', 'paid');
  if (type === 'session.expired') moveOrder(data.session.sessionId, 'open', 'expired');
  if (type === 'refund.completed') moveOrder(data.refund.sessionId, 'paid', 'refunded');
});
