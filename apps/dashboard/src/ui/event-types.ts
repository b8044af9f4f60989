import { type EventFamily, type EventType, events, eventTypes } from '@florin/protocol/event.ts';

/** What an event of the type tells; undefined for a type that is newer than this page. */
export function eventTitle(type: string): string | undefined {
  return Object.entries(events).find(([name]) => name === type)?.[1].title;
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
  types: eventTypes.filter((type) => type.startsWith(`${family}.`)),
}));

/** Every type, in the order of the groups. */
export const allEventTypes: readonly EventType[] = eventGroups.flatMap(({ types }) => types);
