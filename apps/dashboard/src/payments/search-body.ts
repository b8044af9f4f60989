import { idPrefixes } from '@florin/protocol/id.ts';
import { parseUsd } from '@florin/protocol/money.ts';
import type { PaymentFilter } from '@florin/protocol/payment-view.ts';
import type { SessionStatus, SessionType } from '@florin/protocol/session.ts';
import type { ReadableValues } from '../app/odd-filter.ts';
import { dayEnd, dayStart } from '../ui/day.ts';

// As values of their own, since importing the schemas would bring their library into the page.
const statuses: Readonly<Record<SessionStatus, true>> = {
  initialized: true,
  paid: true,
  settling: true,
  completed: true,
  settlement_pending: true,
  expired: true,
  cancelled: true,
};
const types: Readonly<Record<SessionType, true>> = { chk: true, ai_checkout: true, lnk: true };

export type PaymentFilters = Readonly<Record<PaymentFilter, string>>;

/** How the ids of filters by id begin: what does not is a name, which the service does not search for. */
export const filteredIds = {
  linkId: idPrefixes.link,
  productId: idPrefixes.product,
  accountId: idPrefixes.account,
} as const;

const isIdOf = (name: keyof typeof filteredIds) => (value: string) =>
  value.trim() === '' || value.trim().startsWith(filteredIds[name]);

/** Whether a text has something to search for: signs alone have no words. */
export const hasWords = (text: string) => text.trim() === '' || /[\p{L}\p{N}]/u.test(text.normalize('NFKD'));

/** Beside the states of sessions: some money went back, whatever the state. */
export const refundedStatus = 'refunded';

/** The filters that have values of their own, with what can be read of them. */
export const readableFilters: ReadableValues<PaymentFilter> = {
  status: [...Object.keys(statuses), refundedStatus],
  sessionType: Object.keys(types),
  createdFrom: (value) => dayStart(value) !== undefined,
  createdTo: (value) => dayEnd(value) !== undefined,
  paidFrom: (value) => dayStart(value) !== undefined,
  paidTo: (value) => dayEnd(value) !== undefined,
  amountFrom: (value) => filteredUsd(value) !== undefined,
  amountTo: (value) => filteredUsd(value) !== undefined,
  metadata: (value) => filteredMetadata(value) !== undefined,
  linkId: isIdOf('linkId'),
  productId: isIdOf('productId'),
  accountId: isIdOf('accountId'),
};

/** What POST /session/search takes for the filters, each of which is empty or readable. */
export function searchBodyOf(filters: PaymentFilters) {
  const { createdFrom, createdTo, paidFrom, paidTo, amountFrom, amountTo, metadata, ...others } = filters;
  const amount = searchedUsd(filters);
  const texts = amount === undefined ? others : { ...others, text: '' };
  const isRefunded = texts.status === refundedStatus;
  const given = Object.entries(isRefunded ? { ...texts, status: '' } : texts).filter(
    ([, value]) => value.trim() !== '',
  );
  return {
    ...Object.fromEntries(given.map(([name, value]) => [name, value.trim()])),
    ...part('createdFrom', dayStart(createdFrom)),
    ...part('createdTo', dayEnd(createdTo)),
    ...part('paidFrom', dayStart(paidFrom)),
    ...part('paidTo', dayEnd(paidTo)),
    ...part('amountFrom', amount ?? filteredUsd(amountFrom)),
    ...part('amountTo', amount ?? filteredUsd(amountTo)),
    ...part('metadata', filteredMetadata(metadata)),
    ...part('isRefunded', isRefunded || undefined),
  };
}

/** The amount that `$50` in the search box asks for. With filters by amount it stays a text: they could not both be sent. */
function searchedUsd({ text, amountFrom, amountTo }: PaymentFilters): number | undefined {
  if (!text.trim().startsWith('$') || amountFrom !== '' || amountTo !== '') return undefined;
  return filteredUsd(text);
}

/**
 * The Micro-USD of a filter, which the address holds as `1234.5` in every locale, so that a link that a person sends on means
 * the same. Saved views may have a dollar sign and groups from English.
 */
export function filteredUsd(text: string): number | undefined {
  const amount = parseUsd(text.trim().replaceAll(/^\$\s*|(?<=\d),(?=\d{3}(?:\D|$))/g, ''));
  return amount === undefined ? undefined : Number(amount);
}

/**
 * The member of the metadata that `order=A-17` asks for; undefined for another form. Numbers, true, false and a text in quotes
 * are what they are in JSON, and anything else is a text.
 */
export function filteredMetadata(text: string): Readonly<Record<string, MetadataValue>> | undefined {
  const [, key, value] = /^([^=]+?)\s*=\s*(.+)$/s.exec(text.trim()) ?? [];
  return key === undefined || value === undefined ? undefined : { [key]: metadataValue(value) };
}

type MetadataValue = string | number | boolean;

function metadataValue(text: string): MetadataValue {
  try {
    const value: unknown = JSON.parse(text);
    const isPlain = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
    return isPlain ? (value as MetadataValue) : text;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function part<Name extends string, Value>(name: Name, value: Value | undefined) {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]: Value });
}
