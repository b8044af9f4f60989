import type { Transaction } from '@florin/pg';
import type { Branding } from '@florin/protocol/branding.ts';
import { usedOrigins } from './payer-place.sql.ts';

/** The fields of a link or a session that send payers to a shop. */
interface Returns {
  readonly successUrl?: string | undefined;
  readonly cancelUrl?: string | undefined;
}

/** The pages of a merchant that hosted pages name. */
const pageFields = ['supportUrl', 'termsUrl', 'refundUrl', 'privacyUrl'] as const;
type Pages = Pick<Branding, (typeof pageFields)[number] | 'embedOrigins' | 'legalName'>;

/**
 * The origins among these URLs to which the merchant sends no payer yet: no link of theirs returns there, and none of their
 * pages embeds the checkout. A deleted link does not count.
 */
export async function newReturns(
  transaction: Transaction,
  merchantId: string,
  { successUrl = '', cancelUrl = '' }: Returns,
): Promise<readonly string[]> {
  return newOrigins(transaction, merchantId, [successUrl, cancelUrl]);
}

/** What a change of a merchant's branding shows to payers for the first time. */
export interface NewPages {
  /** Origins that may embed the checkout, and URLs of pages. */
  readonly places: readonly string[];
  /** The name before and after, where it changes. */
  readonly legalName: readonly [before: string, after: string] | undefined;
}

/**
 * What of a branding is new; the caller has locked what is stored. Pages and the returns of links often lie with services that
 * many merchants share, such as messengers and forms. So a page counts as known by its whole URL alone, and an origin that
 * embeds the checkout by itself.
 */
export async function newPages(
  transaction: Transaction,
  merchantId: string,
  stored: Pages,
  wanted: Pages,
): Promise<NewPages> {
  const known = new Set(pageFields.map((field) => stored[field]));
  const pages = pageFields.map((field) => wanted[field]).filter((url) => !known.has(url));
  const embeds = wanted.embedOrigins.map((url) => new URL(url).origin);
  const { legalName } = wanted;
  return {
    places: [...(await newOrigins(transaction, merchantId, embeds)), ...new Set(pages)],
    legalName: legalName === stored.legalName ? undefined : [stored.legalName, legalName],
  };
}

async function newOrigins(
  transaction: Transaction,
  merchantId: string,
  urls: readonly string[],
): Promise<readonly string[]> {
  const origins = [...new Set(urls.filter((url) => url !== '').map(originOf))];
  if (origins.length === 0) return [];
  const rows = await transaction.query(usedOrigins, { merchantId, origins });
  const used = new Set(rows.map(({ origin }) => origin));
  return origins.filter((origin) => !used.has(origin));
}

/**
 * The URL up to its path, as the columns of links compute it: equal texts are equal origins. A spelling that they do not know
 * stays whole, and counts as new.
 */
function originOf(url: string): string {
  const lower = url.toLowerCase();
  return /^https?:\/\/[^/?#\\]+/.exec(lower)?.[0] ?? lower;
}
