/** Every event type that a webhook may subscribe to. */
export const eventTypes = [
  'account.created',
  'account.updated',
  'account.removed',
  'product.created',
  'product.updated',
  'product.archived',
  'product.unarchived',
  'product.removed',
  'payment.link.created',
  'payment.link.updated',
  'payment.link.disabled',
  'payment.link.enabled',
  'session.created',
  'session.payment_detected',
  'session.paid',
  'session.settling',
  'session.completed',
  'session.settlement_pending',
  'session.expired',
  'session.cancelled',
  'session.exception',
  'refund.created',
  'refund.completed',
  'refund.failed',
  'webhook.test',
  'webhook.paused',
] as const;
export type EventType = (typeof eventTypes)[number];

/** The patterns that `subscribedEvents` may hold besides exact names. */
export const eventPatterns = [
  '*',
  'account.*',
  'product.*',
  'payment.link.*',
  'session.*',
  'refund.*',
  'webhook.*',
] as const;

/** Whether a subscription entry (a name or a pattern) includes events of this type. */
export function subscriptionTakes(entry: string, type: EventType): boolean {
  if (entry === '*' || entry === type) return true;
  return entry.endsWith('.*') && type.startsWith(entry.slice(0, -1));
}

/** Whether a text is valid in `subscribedEvents`. */
export function isSubscription(entry: string): boolean {
  return (
    (eventTypes as readonly string[]).includes(entry) || (eventPatterns as readonly string[]).includes(entry)
  );
}
