import type { Queryable, Transaction } from '@florin/pg';
import type { Branding } from '@florin/protocol/branding.ts';
import { fieldRefusal } from '@florin/protocol/error.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import type { Clock } from '#outside/clock.ts';
import { brandingOfMerchant, frontOfMerchant, lockBranding, putBranding } from './branding.sql.ts';
import type { ImageIntake, ImageRequest } from './images/intake.ts';
import { holdImage } from './images/product-image.ts';

/** A hosted image to be shown as a logo; without a name there is none. */
export interface Logo {
  readonly name: string;
  readonly url: string;
}

const noLogo: Logo = { name: '', url: '' };

/** How the merchant's hosted pages look; all of it empty before anybody has said so. */
export async function findBranding(queryable: Queryable, merchantId: string): Promise<Branding> {
  const [row] = await queryable.query(brandingOfMerchant, { merchantId });
  return row === undefined
    ? { logoUrl: '', color: '', updateAt: '' }
    : { logoUrl: row.logo_url, color: row.color, updateAt: formatTimestamp(row.updated_at) };
}

/** Whom payers deal with: the merchant's name, and how its pages look; logoUrl and color may be empty. */
export interface Front extends Pick<Branding, 'logoUrl' | 'color'> {
  readonly merchantName: string;
}

/** The front of a merchant who has links or sessions. */
export async function findFront(queryable: Queryable, merchantId: string): Promise<Front> {
  const [row] = await queryable.query(frontOfMerchant, { merchantId });
  if (row === undefined) throw new Error(`the merchant ${merchantId} has vanished`);
  return { merchantName: row.merchant_name, logoUrl: row.logo_url, color: row.color };
}

/**
 * Gets the logo that a merchant names, outside of any transaction. Unlike a product, which is sold without its image all
 * the same, branding is nothing but this: a logo that cannot be had now is refused (400101), and not tried again.
 */
export async function takeLogo(
  intake: ImageIntake,
  queryable: Queryable,
  request: ImageRequest,
): Promise<Logo> {
  const image = await intake.take(queryable, request);
  if (image.status === 'none') return noLogo;
  if (image.status === 'hosted') return { name: image.name, url: image.url };
  throw fieldRefusal('logoUrl', `cannot be had: ${image.reason}`);
}

/**
 * Replaces a merchant's branding. Links keep their versions: a payer agrees to a price, not to a colour. The colour is
 * empty, or `#` and six hexadecimal digits.
 */
export async function updateBranding(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  request: { readonly merchantId: string; readonly logo: Logo; readonly color: string },
): Promise<void> {
  const { merchantId, logo, color } = request;
  const at = deps.clock.now();
  const [before] = await transaction.query(lockBranding, { merchantId });
  await transaction.query(putBranding, {
    merchantId,
    logoName: logo.name,
    logoUrl: logo.url,
    color: color.toLowerCase(),
    updatedAt: at,
  });
  // From now on the old one counts as unused.
  const oldName = before?.logo_name ?? '';
  if (oldName !== '' && oldName !== logo.name)
    await holdImage(transaction, { merchantId, name: oldName, at });
}
