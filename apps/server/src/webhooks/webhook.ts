import type { KeylessWebhook, Webhook as StoredWebhook, WebhookFields } from '@florin/outbox';
import { Refusal } from '@florin/protocol/error.ts';
import { isSubscription } from '@florin/protocol/event.ts';
import type { MemberPermission } from '@florin/protocol/permission.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
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

/** The same with its key, of which a reader without `webhook_secrets:read` gets the last four characters. */
export function keyedWebhookView(
  webhook: StoredWebhook,
  permissions: ReadonlySet<MemberPermission>,
): Webhook {
  const { createAt, updateAt, ...fields } = webhookView(webhook);
  const key = permissions.has('webhook_secrets:read') ? webhook.key : `whsec_****${webhook.key.slice(-4)}`;
  const webhookUrl = shownUrl(webhook.webhookUrl, permissions);
  return { ...fields, webhookUrl, key, createAt, updateAt };
}

/** A receiver's URL for a reader: whole for one who may change webhooks. */
export function shownUrl(url: string, permissions: ReadonlySet<MemberPermission>): string {
  return permissions.has('webhooks:write') ? url : urlWithoutValues(url);
}

/** A receiver's URL without the values of its query and without its fragment: they often hold a secret of the receiver. */
export function urlWithoutValues(url: string): string {
  const [address = '', query] = (url.split('#', 1)[0] ?? '').split(/\?(.*)/s, 2);
  if (query === undefined) return address;
  const shown = query
    .split('&')
    .map((part) => (part.includes('=') ? `${part.slice(0, part.indexOf('='))}=****` : '****'));
  return `${address}?${shown.join('&')}`;
}
