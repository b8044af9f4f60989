import Type, { type TObject } from 'typebox';
import { account } from './account.ts';
import { accountChange } from './account-change.ts';
import { raisedException } from './exception.ts';
import { linkDetail } from './link.ts';
import { product } from './product.ts';
import { refund } from './refund.ts';
import { paidSessionView, session } from './session.ts';
import { webhook } from './webhook.ts';

/** What is known of one type of event. */
export interface EventEntry {
  /** When it is sent, in one sentence. */
  readonly when: string;
  /** `data` of the event: what the matching read returned when it happened. */
  readonly data: TObject;
  /** Where its fixture differs from the example of the object: its status, and what follows from that. */
  readonly state?: Readonly<Record<string, string | number>>;
}

const { key: _key, ...keylessWebhook } = webhook.properties;

const ofAccount = Type.Object({ account });
const ofAccountChange = Type.Object({ accountChange });
const ofProduct = Type.Object({ product });
const ofLink = Type.Object({ link: linkDetail });
const ofSession = Type.Object({ session });
const ofRefund = Type.Object({ refund });
const ofMessage = Type.Object({ message: Type.String() });
const ofWebhook = Type.Object({ webhook: Type.Object(keylessWebhook) });

const active = { status: 'active' };
const archived = { status: 'archived' };

/** Every type of event. Schemas, fixtures, subscriptions and documents follow from this table. */
export const events = {
  'account.created': { data: ofAccount, when: 'A collection account was added.' },
  'account.updated': { data: ofAccount, when: 'A collection account was changed.' },
  'account.removed': { data: ofAccount, when: 'A collection account was removed; its links are disabled.' },
  'account.change_planned': {
    data: ofAccountChange,
    when: 'A wallet was added, or an account was given another address; it takes effect at `effectiveAt` if it is not cancelled.',
  },
  'account.change_cancelled': {
    data: ofAccountChange,
    state: { status: 'cancelled' },
    when: 'A wallet or an address that waited was cancelled.',
  },
  'product.created': { data: ofProduct, state: active, when: 'A product was created.' },
  'product.updated': { data: ofProduct, state: active, when: 'A product was replaced.' },
  'product.archived': { data: ofProduct, state: archived, when: 'A product was archived.' },
  'product.unarchived': { data: ofProduct, state: active, when: 'A product was unarchived.' },
  'product.removed': { data: ofProduct, state: archived, when: 'A product was removed.' },
  'payment.link.created': { data: ofLink, state: active, when: 'A payment link was created.' },
  'payment.link.updated': { data: ofLink, state: active, when: 'A payment link was replaced.' },
  'payment.link.disabled': {
    data: ofLink,
    state: { status: 'disabled' },
    when: 'A payment link was disabled, for any reason.',
  },
  'payment.link.enabled': { data: ofLink, state: active, when: 'A payment link was enabled.' },
  'session.created': { data: ofSession, state: { status: 'initialized' }, when: 'A session was created.' },
  'session.payment_detected': {
    data: ofSession,
    state: { status: 'initialized', signedOnce: 1 },
    when: 'Its payment is in a block that is not final.',
  },
  'session.paid': {
    data: paidSessionView,
    state: { status: 'paid' },
    when: 'Its payment is final. Raised once.',
  },
  'session.settling': {
    data: paidSessionView,
    state: { status: 'settling' },
    when: 'A settlement is recorded.',
  },
  'session.completed': {
    data: paidSessionView,
    state: { status: 'completed' },
    when: 'The money is in the merchant’s wallet, final. May come again after `session.settlement_pending`.',
  },
  'session.settlement_pending': {
    data: paidSessionView,
    state: { status: 'settlement_pending' },
    when: 'The settlement is delayed and being retried.',
  },
  'session.expired': { data: ofSession, state: { status: 'expired' }, when: 'It was not paid in time.' },
  'session.cancelled': {
    data: ofSession,
    state: { status: 'cancelled' },
    when: 'The merchant cancelled it.',
  },
  'session.exception': {
    data: Type.Object({ exception: raisedException, session }),
    when: 'Something about its payment needs attention, such as a second payment.',
  },
  'refund.created': {
    data: ofRefund,
    state: { status: 'pending', txHash: '' },
    when: 'A refund was asked for.',
  },
  'refund.completed': {
    data: ofRefund,
    state: { status: 'completed' },
    when:
      'The payer has the money back, final. It comes without `refund.created` for money that a wallet returned through the gateway ' +
      'although no refund waited for it.',
  },
  'refund.failed': {
    data: ofRefund,
    state: { status: 'failed', txHash: '' },
    when: 'The money went to the merchant instead.',
  },
  'refund.cancelled': {
    data: ofRefund,
    state: { status: 'cancelled', txHash: '', cancelledAt: '2026-01-02 03:20:00' },
    when: 'The merchant cancelled it before it was signed. `refund.completed` follows if the money goes back all the same.',
  },
  'webhook.test': { data: ofMessage, when: '`POST /webhook/test` was called.' },
  'webhook.paused': {
    data: ofWebhook,
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

/** The member of `data` that an event is about. */
export type EventObject<Type extends EventType> = {
  [Each in Type]: keyof (typeof events)[Each]['data']['properties'];
}[Type];

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
