/** What the `data` of an event holds: the name of its schema in event-data.ts, and of its example in event-fixture.ts. */
export type EventDataName =
  | 'account'
  | 'accountChange'
  | 'product'
  | 'link'
  | 'session'
  | 'paidSession'
  | 'exception'
  | 'refund'
  | 'message'
  | 'webhook';

/** What is known of one type of event. */
export interface EventEntry {
  /** What the event tells, in the few words that the dashboard shows. */
  readonly title: string;
  /** When it is sent, in one sentence. */
  readonly when: string;
  /** What the matching read returned when it happened. */
  readonly data: EventDataName;
  /** Where its fixture differs from the example of the object: its status, and what follows from that. */
  readonly state?: Readonly<Record<string, string | number>>;
}

const active = { status: 'active' };
const archived = { status: 'archived' };

/**
 * Every type of event. Schemas, fixtures, subscriptions, documents and screens follow from this table. It loads no schema,
 * so that pages can have it.
 */
export const events = {
  'account.created': {
    title: 'A wallet was added',
    data: 'account',
    when: 'A collection account was added.',
  },
  'account.updated': {
    title: 'A wallet was changed',
    data: 'account',
    when: 'A collection account was changed.',
  },
  'account.removed': {
    title: 'A wallet was removed',
    data: 'account',
    when: 'A collection account was removed; its links are disabled.',
  },
  'account.change_planned': {
    title: 'A change of a wallet waits',
    data: 'accountChange',
    when: 'A wallet was added, or an account was given another address; it takes effect at `effectiveAt` if it is not cancelled.',
  },
  'account.change_cancelled': {
    title: 'A change of a wallet was cancelled',
    data: 'accountChange',
    state: { status: 'cancelled' },
    when: 'A wallet or an address that waited was cancelled.',
  },
  'product.created': {
    title: 'A product was created',
    data: 'product',
    state: active,
    when: 'A product was created.',
  },
  'product.updated': {
    title: 'A product was changed',
    data: 'product',
    state: active,
    when: 'A product was replaced.',
  },
  'product.archived': {
    title: 'A product was archived',
    data: 'product',
    state: archived,
    when: 'A product was archived.',
  },
  'product.unarchived': {
    title: 'A product is offered again',
    data: 'product',
    state: active,
    when: 'A product was unarchived.',
  },
  'product.removed': {
    title: 'A product was removed',
    data: 'product',
    state: archived,
    when: 'A product was removed.',
  },
  'payment.link.created': {
    title: 'A link was created',
    data: 'link',
    state: active,
    when: 'A payment link was created.',
  },
  'payment.link.updated': {
    title: 'A link was changed',
    data: 'link',
    state: active,
    when: 'A payment link was replaced.',
  },
  'payment.link.disabled': {
    title: 'A link was disabled',
    data: 'link',
    state: { status: 'disabled' },
    when: 'A payment link was disabled, for any reason.',
  },
  'payment.link.enabled': {
    title: 'A link was enabled',
    data: 'link',
    state: active,
    when: 'A payment link was enabled.',
  },
  'session.created': {
    title: 'A session was created',
    data: 'session',
    state: { status: 'initialized' },
    when: 'A session was created.',
  },
  'session.payment_detected': {
    title: 'A payment was seen; it is not final yet',
    data: 'session',
    state: { status: 'initialized', signedOnce: 1 },
    when: 'Its payment is in a block that is not final.',
  },
  'session.paid': {
    title: 'A payment is final',
    data: 'paidSession',
    state: { status: 'paid' },
    when: 'Its payment is final. Raised once.',
  },
  'session.settling': {
    title: 'A settlement is under way',
    data: 'paidSession',
    state: { status: 'settling' },
    when: 'A settlement is recorded.',
  },
  'session.completed': {
    title: 'The money is in your wallet',
    data: 'paidSession',
    state: { status: 'completed' },
    when: 'The money is in the merchant’s wallet, final. May come again after `session.settlement_pending`.',
  },
  'session.settlement_pending': {
    title: 'A settlement is delayed',
    data: 'paidSession',
    state: { status: 'settlement_pending' },
    when: 'The settlement is delayed and being retried; or, with `payment_reorged`, the chain took the payment itself back.',
  },
  'session.expired': {
    title: 'A session was not paid in time',
    data: 'session',
    state: { status: 'expired' },
    when: 'It was not paid in time, or its payment was taken back and did not return in time.',
  },
  'session.cancelled': {
    title: 'You cancelled a session',
    data: 'session',
    state: { status: 'cancelled' },
    when: 'The merchant cancelled it.',
  },
  'session.exception': {
    title: 'A payment needs attention',
    data: 'exception',
    when: 'Something about its payment needs attention, such as a second payment.',
  },
  'refund.created': {
    title: 'A refund was asked for',
    data: 'refund',
    state: { status: 'pending', txHash: '' },
    when: 'A refund was asked for.',
  },
  'refund.completed': {
    title: 'The payer has the money back',
    data: 'refund',
    state: { status: 'completed' },
    when:
      'The payer has the money back, final. It comes without `refund.created` for money that a wallet returned through the gateway ' +
      'although no refund waited for it.',
  },
  'refund.failed': {
    title: 'A refund went to you instead',
    data: 'refund',
    state: { status: 'failed', txHash: '' },
    when: 'The money went to the merchant instead.',
  },
  'refund.cancelled': {
    title: 'You withdrew a refund',
    data: 'refund',
    state: { status: 'cancelled', txHash: '', cancelledAt: '2026-01-02 03:20:00' },
    when: 'The merchant cancelled it before it was signed. `refund.completed` follows if the money goes back all the same.',
  },
  'refund.reopened': {
    title: 'The chain took back a refund',
    data: 'refund',
    state: { status: 'requires_signature' },
    when:
      'The payer no longer has the money: a reorganisation below finality took back the transaction of a completed refund, which ' +
      '`txHash` names. `status` is `requires_signature` where your wallet had signed it, `cancelled` where you had cancelled it ' +
      'before, and `pending` where the service sends it again. `refund.completed` follows when the money is back with the payer.',
  },
  'webhook.test': {
    title: 'A test was sent',
    data: 'message',
    when: '`POST /webhook/test` was called.',
  },
  'webhook.paused': {
    title: 'Another webhook was paused',
    data: 'webhook',
    state: { status: 'paused' },
    when: 'Another webhook of the merchant failed for too long.',
  },
} as const satisfies Readonly<Record<string, EventEntry>>;

export type EventType = keyof typeof events;

/** A type without its last part, by which its like are grouped: `session`, `payment.link`. */
type FamilyOf<Type extends string> = Type extends `${infer Head}.${infer Rest}`
  ? Rest extends `${string}.${string}`
    ? `${Head}.${FamilyOf<Rest>}`
    : Head
  : never;
export type EventFamily = FamilyOf<EventType>;

/** Every event type that a webhook may subscribe to. */
export const eventTypes = Object.keys(events) as EventType[];

/** The patterns that `subscribedEvents` may hold besides exact names: `*`, `account.*`, `payment.link.*` and the like. */
export const eventPatterns: readonly string[] = [
  '*',
  ...new Set(eventTypes.map((type) => type.replace(/[^.]+$/, '*'))),
];

/** Whether a subscription entry (a name or a pattern) includes events of this type. */
export function subscriptionTakes(entry: string, type: EventType): boolean {
  if (entry === '*' || entry === type) return true;
  return entry.endsWith('.*') && type.startsWith(entry.slice(0, -1));
}

/** Whether a text is valid in `subscribedEvents`. */
export function isSubscription(entry: string): boolean {
  return Object.hasOwn(events, entry) || eventPatterns.includes(entry);
}
