import type { Queryable, Transaction } from '@florin/pg';
import type { Branding } from '@florin/protocol/branding.ts';
import { fieldRefusal } from '@florin/protocol/error.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import type { Clock } from '#outside/clock.ts';
import { brandingOfMerchant, lockBranding, putBranding, shownMerchant } from './branding.sql.ts';
import type { ImageIntake, ImageRequest } from './images/intake.ts';
import { touchHostedImage } from './images/product-image.ts';

/** A hosted image to be shown as a logo; without a name there is none. */
export interface Logo {
  readonly name: string;
  readonly url: string;
}

const noLogo: Logo = { name: '', url: '' };

/** The appearance of the merchant's hosted pages; empty until the merchant sets it. */
export async function findBranding(queryable: Queryable, merchantId: string): Promise<Branding> {
  const [row] = await queryable.query(brandingOfMerchant, { merchantId });
  return row === undefined
    ? { logoUrl: '', color: '', updateAt: '' }
    : { logoUrl: row.logo_url, color: row.color, updateAt: formatTimestamp(row.updated_at) };
}

/** The merchant's name and branding on hosted pages; logoUrl and color may be empty. */
export interface ShownMerchant extends Pick<Branding, 'logoUrl' | 'color'> {
  readonly merchantName: string;
}

/** The name and branding of a merchant who has links or sessions. */
export async function findShownMerchant(queryable: Queryable, merchantId: string): Promise<ShownMerchant> {
  const [row] = await queryable.query(shownMerchant, { merchantId });
  if (row === undefined) throw new Error(`there is no merchant ${merchantId}`);
  return { merchantName: row.merchant_name, logoUrl: row.logo_url, color: row.color };
}

/**
 * Downloads the logo that a merchant names, outside of any transaction. A product can be sold without its image, so that image
 * is retried later. A logo that cannot be downloaded is refused (400101).
 */
export async function takeLogo(
  intake: ImageIntake,
  queryable: Queryable,
  request: ImageRequest,
): Promise<Logo> {
  const image = await intake.take(queryable, request);
  if (image.status === 'none') return noLogo;
  if (image.status === 'hosted') return { name: image.name, url: image.url };
  throw fieldRefusal('logoUrl', `cannot be used: ${image.reason}`);
}

/**
 * Replaces a merchant's branding. Links keep their versions, because payers agree to a price and not to a color. The color is
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
  // The old logo counts as unused from now on.
  const oldName = before?.logo_name ?? '';
  if (oldName !== '' && oldName !== logo.name)
    await touchHostedImage(transaction, { merchantId, name: oldName, at });
}
