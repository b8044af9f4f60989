import { createHmac, type KeyObject } from 'node:crypto';

/** The header values that authenticate one attempt. */
export interface SignatureHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/**
 * Signs a body as Standard Webhooks 1.0.0 prescribes: HMAC-SHA256 over `id.timestamp.body`, as `v1,` and base64, with one
 * signature per key, separated by spaces. `timestampSeconds` is the time of sending, which receivers check.
 */
export function signWebhook(options: {
  readonly eventId: string;
  readonly timestampSeconds: number;
  readonly body: string;
  readonly keys: readonly (Uint8Array | KeyObject)[];
}): SignatureHeaders {
  const { eventId, timestampSeconds, body, keys } = options;
  const signed = `${eventId}.${timestampSeconds}.${body}`;
  return {
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': keys
      .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
      .join(' '),
  };
}

/** The other headers of a notification, as the delivery log shows them. */
export function plainHeaders(eventId: string, timestampSeconds: number): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'user-agent': 'Florin-Webhooks/1',
    'accept-encoding': 'identity',
    'webhook-id': eventId,
    'webhook-timestamp': String(timestampSeconds),
  };
}
