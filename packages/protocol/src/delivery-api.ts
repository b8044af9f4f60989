import Type, { type Static } from 'typebox';
import { eventTypes } from './event.ts';
import { route } from './route.ts';
import {
  cursorPage,
  idText,
  listCursor,
  pageParams,
  strictObject,
  timestampOrNull,
  timestampText,
} from './schema.ts';
import { latestSeconds } from './webhook.ts';

/**
 * pending: will be tried, or tried again. succeeded and failed: finished. skipped: raised while the webhook was
 * inactive, or left when it was deleted.
 */
export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'skipped'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Attempts that a delivery shows, the latest ones. */
export const maxShownAttempts = 20;

/** Deliveries that one call resends. */
export const maxResent = 500;

/** Statuses from which a delivery can be resent. */
const resendStatuses = ['succeeded', 'failed', 'skipped', 'pending'] as const;

const attempt = {
  attempt: Type.Integer({ description: 'Counts from 1, and continues through replays' }),
  at: timestampText,
  httpStatus: Type.Union([Type.Integer(), Type.Null()], { description: 'null without an answer' }),
  latencyMs: Type.Integer(),
  error: Type.String({ description: 'Empty after a success' }),
  responseBody: Type.String({ description: 'The first 4 KiB of the answer' }),
} as const;

const deliveryHead = {
  deliveryId: Type.String({ description: 'Prefix `dlv_`' }),
  eventId: Type.String({ description: 'Prefix `evt_`' }),
  eventType: Type.String({ description: 'Such as `session.paid`' }),
  status: Type.Enum(deliveryStatuses),
} as const;

const deliveryTail = { nextAttemptAt: timestampOrNull, createAt: timestampText } as const;
const lastOnes = `The last ${maxShownAttempts}, oldest first`;

export const delivery = Type.Object({
  ...deliveryHead,
  attempts: Type.Array(Type.Object(attempt), { maxItems: maxShownAttempts, description: lastOnes }),
  ...deliveryTail,
});
export type Delivery = Static<typeof delivery>;

const request = Type.Object({
  url: Type.String({
    description:
      'Without the values of its query for keys without `webhooks:write`. Empty for attempts of older versions, which did not store it',
  }),
  headers: Type.Record(Type.String(), Type.String(), {
    description: 'As sent, without webhook-signature: a reader could use it to impersonate the sender',
  }),
});

/** The fields in which an attempt can differ from the one before it. */
export const attemptChanges = ['url', 'httpStatus', 'error', 'responseBody'] as const;
export type AttemptChange = (typeof attemptChanges)[number];

/** A delivery with its requests. */
export const deliveryDetail = Type.Object({
  ...deliveryHead,
  webhookId: Type.String({ description: 'Prefix `wkid_`' }),
  body: Type.String({
    description: 'The body, byte for byte. Empty for keys without events:read; redacted like events',
  }),
  attempts: Type.Array(
    Type.Object({
      ...attempt,
      request,
      changes: Type.Array(Type.Enum(attemptChanges), {
        description: 'What differs from the previous attempt',
      }),
    }),
    { maxItems: maxShownAttempts, description: lastOnes },
  ),
  ...deliveryTail,
});
export type DeliveryDetail = Static<typeof deliveryDetail>;

const testBody = strictObject({
  webhookId: idText,
  eventType: Type.Optional(
    Type.Enum(eventTypes, {
      description: 'Sends an example event of this type, marked with fixture; webhook.test by default',
    }),
  ),
});

const unixTime = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: latestSeconds, description }));

const resendAllBody = strictObject({
  webhookId: Type.Optional(idText),
  eventId: Type.Optional(idText),
  since: unixTime('Unix seconds: deliveries of events raised then or later'),
  until: unixTime('Unix seconds: deliveries of events raised before then'),
  statuses: Type.Optional(
    Type.Array(Type.Enum(resendStatuses), {
      minItems: 1,
      maxItems: resendStatuses.length,
      description:
        'failed, skipped and pending by default; all with an eventId. pending: those that wait for their next attempt',
    }),
  ),
  after: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: '`last` of the previous answer' }),
  ),
});

const read = { method: 'GET', tag: 'Webhooks', permissions: ['webhooks:read'], effect: 'query' } as const;
const write = { method: 'POST', tag: 'Webhooks', permissions: ['webhooks:write'], effect: 'update' } as const;

/** Deliveries of the merchant API: test a webhook, list its deliveries, resend them. */
export const deliveryRoutes = {
  testWebhook: route({
    ...write,
    path: '/webhook/test',
    summary: 'Send a test event to one webhook',
    description:
      'Sends webhook.test to this webhook alone, regardless of its subscriptions; while it is not active the delivery is ' +
      'skipped. Tests do not wait for one another. With eventType it sends an example ' +
      'event of that type instead, with `fixture: true` and ids that exist nowhere. Check for it before you deliver goods.',
    body: testBody,
    reply: Type.Object({ eventId: Type.String(), deliveryId: Type.String() }),
    effect: 'create',
    errors: ['webhook_not_found'],
  }),
  listDeliveries: route({
    ...read,
    path: '/webhook/delivery/list/:webhookId/:page/:size',
    summary: 'List the deliveries of a webhook, newest first',
    description: 'What was sent, how often, and the answers. `page` and `size` come back as numbers.',
    params: Type.Object({ webhookId: idText, ...pageParams.properties }),
    query: listCursor,
    reply: cursorPage({ deliveries: Type.Array(delivery) }),
    errors: ['webhook_not_found', 'field_invalid'],
  }),
  getDelivery: route({
    ...read,
    path: '/webhook/delivery/detail/:deliveryId',
    summary: 'Read a delivery with its requests and answers',
    description:
      'Every attempt with its request, its answer, how long it took, and what differs from the previous attempt. ' +
      'Signatures are left out.',
    params: Type.Object({ deliveryId: idText }),
    reply: deliveryDetail,
    errors: ['delivery_not_found'],
  }),
  resendDeliveries: route({
    ...write,
    path: '/webhook/delivery/resend/all',
    summary: 'Resend an event, or a webhook’s deliveries in a period',
    description:
      'With eventId it resends that event to every webhook, or to webhookId alone. Otherwise it resends the deliveries of webhookId from since ' +
      `to until that have failed, were skipped, or wait for their next attempt; statuses chooses others. At most ${maxResent} in one call, oldest first. While hasMore, call again with after set to ` +
      'the last of the answer. Each is sent as POST /webhook/delivery/resend does it; how fast follows from how the ' +
      'receiver answers.',
    body: resendAllBody,
    reply: Type.Object({
      success: Type.Literal(true),
      resent: Type.Integer(),
      hasMore: Type.Boolean(),
      last: Type.String({ description: 'The last delivery that was examined; empty when there was none' }),
    }),
    errors: ['webhook_not_found', 'event_not_found', 'delivery_not_found', 'field_invalid'],
  }),
  resendDelivery: route({
    ...write,
    path: '/webhook/delivery/resend',
    summary: 'Resend a finished delivery, or send a waiting one at once',
    description:
      'Sends the same webhook-id and body, signed anew, on a new schedule. A delivery that waits for its next attempt is sent at once. One ' +
      'that is under way, or waits for an earlier event of its object, stays as it is; while the webhook is not active it waits until the webhook is enabled.',
    body: strictObject({ deliveryId: idText }),
    errors: ['delivery_not_found'],
  }),
} as const;
