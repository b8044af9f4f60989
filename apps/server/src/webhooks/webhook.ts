import type { KeylessWebhook, Webhook as StoredWebhook, WebhookFields } from '@florin/outbox';
import { Refusal } from '@florin/protocol/error.ts';
import { isSubscription } from '@florin/protocol/event.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import type { Webhook, WebhookCreateBody } from '@florin/protocol/webhook.ts';
import type { AddressPolicy } from '#outside/address.ts';
import { webhookUrlOf } from './url-policy.ts';

/**
 * The fields that a merchant sets, with the URL in its normal form. Refuses a URL that is not allowed (100503) and unknown
 * event types (100504).
 */
export function webhookFields(body: WebhookCreateBody, addresses: AddressPolicy): WebhookFields {
  const { webhookName, webhookDescription, subscribedEvents } = body;
  const webhookUrl = webhookUrlOf(body.webhookUrl, addresses);
  subscribedEvents.forEach((entry, index) => {
    if (!isSubscription(entry)) {
      throw new Refusal('event_type_unknown', { param: `subscribedEvents[${index}]`, detail: entry });
    }
  });
  return { webhookName, webhookDescription, webhookUrl, subscribedEvents };
}

/** A webhook as the merchant API shows it, without its key. */
export function webhookView(webhook: KeylessWebhook): Omit<Webhook, 'key'> {
  return {
    webhookId: webhook.webhookId,
    webhookName: webhook.webhookName,
    webhookDescription: webhook.webhookDescription,
    webhookUrl: webhook.webhookUrl,
    status: webhook.status,
    subscribedEvents: [...webhook.subscribedEvents],
    createAt: formatTimestamp(webhook.createdAt),
    updateAt: formatTimestamp(webhook.updatedAt),
  };
}

/** The same with its key; `isKeyShown` false masks it. */
export function keyedWebhookView(webhook: StoredWebhook, isKeyShown: boolean): Webhook {
  const { createAt, updateAt, ...fields } = webhookView(webhook);
  const key = isKeyShown ? webhook.key : `whsec_****${webhook.key.slice(-4)}`;
  return { ...fields, key, createAt, updateAt };
}
