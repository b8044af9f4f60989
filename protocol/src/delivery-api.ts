import Type, { type Static } from 'typebox';
import { route } from './route.ts';
import { idText, numberPage, pageParams, successReply, timestampText } from './schema.ts';
import { webhookIdBody } from './webhook.ts';

/**
 * pending: to be tried, or tried again. succeeded and failed: through. skipped: raised while the webhook was not
 * active, or left over when it was deleted.
 */
export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'skipped'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Attempts that a delivery shows: its last ones. */
export const maxShownAttempts = 20;

const timestampOrNull = Type.Union([timestampText, Type.Null()]);

export const delivery = Type.Object({
  deliveryId: Type.String({ description: 'Prefix `dlv_`' }),
  eventId: Type.String({ description: 'Prefix `evt_`' }),
  eventType: Type.String({ description: 'Such as `session.paid`' }),
  status: Type.Enum(deliveryStatuses),
  attempts: Type.Array(
    Type.Object({
      attempt: Type.Integer({ description: 'Counts from 1, on through replays' }),
      at: timestampText,
      httpStatus: Type.Union([Type.Integer(), Type.Null()]),
      latencyMs: Type.Integer(),
      error: Type.String({ description: 'Empty after a success' }),
      responseBody: Type.String({ description: 'The first 4 KiB of the answer' }),
    }),
    { maxItems: maxShownAttempts, description: `The last ${maxShownAttempts}, oldest first` },
  ),
  nextAttemptAt: timestampOrNull,
  createAt: timestampText,
});
export type Delivery = Static<typeof delivery>;

/** Deliveries of the merchant API: test a webhook, see what it was told, tell it again. */
export const deliveryRoutes = {
  testWebhook: route({
    method: 'POST',
    path: '/webhook/test',
    summary: 'Send a test event to one webhook',
    description:
      'Raises webhook.test for this webhook alone, whatever it subscribes to; while it is not active the delivery is ' +
      'skipped. Every test is an object of its own: no test waits for another.',
    tag: 'Webhooks',
    body: webhookIdBody,
    reply: Type.Object({ eventId: Type.String(), deliveryId: Type.String() }),
    permissions: ['webhooks:write'],
    effect: 'create',
    errors: ['webhook_not_found'],
  }),
  listDeliveries: route({
    method: 'GET',
    path: '/webhook/delivery/list/:webhookId/:page/:size',
    summary: 'List the deliveries of a webhook, newest first',
    description: 'What was sent, how often and with which answer. `page` and `size` come back as numbers.',
    tag: 'Webhooks',
    params: Type.Object({ webhookId: idText, ...pageParams.properties }),
    reply: numberPage({ deliveries: Type.Array(delivery) }),
    permissions: ['webhooks:read'],
    effect: 'query',
    errors: ['webhook_not_found', 'field_invalid'],
  }),
  resendDelivery: route({
    method: 'POST',
    path: '/webhook/delivery/resend',
    summary: 'Send a finished delivery again',
    description:
      'The same webhook-id and body, signed anew, on a fresh schedule. One that is still being tried is left as it ' +
      'is; while the webhook is not active it waits until the webhook is enabled.',
    tag: 'Webhooks',
    body: Type.Object({ deliveryId: idText }, { additionalProperties: false }),
    reply: successReply,
    permissions: ['webhooks:write'],
    effect: 'update',
    errors: ['delivery_not_found'],
  }),
} as const;
