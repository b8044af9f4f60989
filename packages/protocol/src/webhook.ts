import Type, { type Static } from 'typebox';
import { idText, ignored, nameText, strictObject, text, timestampText, unchangedSince } from './schema.ts';

export const webhookStatus = Type.Union([
  Type.Literal('active'),
  Type.Literal('inactive'),
  Type.Literal('paused'),
]);

export const webhook = Type.Object({
  webhookId: Type.String({ description: 'Prefix `wkid_`' }),
  webhookName: Type.String({ description: 'At most 100 characters' }),
  webhookDescription: Type.String({ description: 'At most 1000 characters' }),
  webhookUrl: Type.String({
    description:
      'Receiver, https, in its normal form (WHATWG). Without the values of its query (`?token=****`) for keys without `webhooks:write`, and in events',
  }),
  status: webhookStatus,
  subscribedEvents: Type.Array(Type.String()),
  key: Type.String({ description: 'Signing key `whsec_…`; masked for keys without `webhook_secrets:read`' }),
  createAt: timestampText,
  updateAt: timestampText,
});
export type Webhook = Static<typeof webhook>;

/** Webhook endpoints per merchant. */
export const maxWebhooks = 10;

/** Characters of a receiver's URL, as sent and in its normal form. */
export const maxWebhookUrlLength = 1000;

/** A type of event, or a pattern of types. The service refuses another text with 100504. */
export const subscriptionText = text({ min: 1, max: 64 });

export const webhookFields = {
  webhookName: nameText({ max: 100 }),
  webhookUrl: text({ min: 1, max: maxWebhookUrlLength }),
  subscribedEvents: Type.Array(subscriptionText, { minItems: 1, maxItems: 50 }),
  webhookDescription: Type.Optional(text({ max: 1000 })),
} as const;

export const webhookCreateBody = strictObject(webhookFields);
export type WebhookCreateBody = Static<typeof webhookCreateBody>;

/** POST /webhook/update: full replacement. */
export const webhookUpdateBody = strictObject({
  webhookId: idText,
  ...webhookFields,
  ifUpdateAt: unchangedSince('webhook', 100507),
  ...ignored('status', 'key', 'createAt', 'updateAt'),
});

export const webhookIdBody = strictObject({ webhookId: idText });

/** The last second of the year 9999, in Unix seconds. */
export const latestSeconds = 253_402_300_799;

export const webhookEnableBody = strictObject({
  webhookId: idText,
  replaySince: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: latestSeconds,
      description: 'Unix seconds: also resends what was skipped or failed since then',
    }),
  ),
});

/** The longest time in seconds that an old key keeps signing together with the new one. */
const maxKeyOverlapSeconds = 86_400;

export const webhookKeyRefreshBody = strictObject({
  webhookId: idText,
  overlapSeconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxKeyOverlapSeconds,
      description: 'How long the old key also signs; with the default 0 it is invalid at once',
    }),
  ),
});
