import type { EventFamily, EventType } from '@florin/protocol/event.ts';

/**
 * What each type of event tells. Only the type comes from the protocol: its table also holds the schemas, which a page
 * need not load. The compiler compares the names.
 */
const titles: Readonly<Record<EventType, string>> = {
  'session.created': 'A session was created',
  'session.payment_detected': 'A payment was seen; it is not final yet',
  'session.paid': 'A payment is final',
  'session.settling': 'A settlement is under way',
  'session.completed': 'The money is in your wallet',
  'session.settlement_pending': 'A settlement is delayed',
  'session.expired': 'A session was not paid in time',
  'session.cancelled': 'You cancelled a session',
  'session.exception': 'A payment needs attention',
  'refund.created': 'A refund was asked for',
  'refund.completed': 'The payer has the money back',
  'refund.failed': 'A refund went to you instead',
  'refund.cancelled': 'You withdrew a refund',
  'payment.link.created': 'A link was created',
  'payment.link.updated': 'A link was changed',
  'payment.link.disabled': 'A link was disabled',
  'payment.link.enabled': 'A link was enabled',
  'product.created': 'A product was created',
  'product.updated': 'A product was changed',
  'product.archived': 'A product was archived',
  'product.unarchived': 'A product is offered again',
  'product.removed': 'A product was removed',
  'account.created': 'A wallet was added',
  'account.updated': 'A wallet was changed',
  'account.removed': 'A wallet was removed',
  'account.change_planned': 'A change of a wallet waits',
  'account.change_cancelled': 'A change of a wallet was cancelled',
  'webhook.test': 'A test was sent',
  'webhook.paused': 'Another webhook was paused',
};

export const allEventTypes = Object.keys(titles) as EventType[];

/** What an event of the type tells; undefined for a type that is newer than this page. */
export function eventTitle(type: string): string | undefined {
  return Object.entries(titles).find(([name]) => name === type)?.[1];
}

/** Types of one kind of object, with the pattern that covers them. */
export interface EventGroup {
  readonly pattern: string;
  readonly title: string;
  readonly types: readonly EventType[];
}

const groupTitles: Readonly<Record<EventFamily, string>> = {
  session: 'Payments',
  refund: 'Refunds',
  'payment.link': 'Payment links',
  product: 'Products',
  account: 'Wallets',
  webhook: 'Webhooks',
};

export const eventGroups: readonly EventGroup[] = Object.entries(groupTitles).map(([family, title]) => ({
  ...{ pattern: `${family}.*`, title },
  types: allEventTypes.filter((type) => type.startsWith(`${family}.`)),
}));
