import type { Queryable, Row, Transaction } from '@florin/pg';
import { brandFonts, plainLook } from '@florin/protocol/brand-look.ts';
import type { Branding } from '@florin/protocol/branding.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import type { Clock } from '#outside/clock.ts';
import {
  brandingOfMerchant,
  lockBranding,
  putBranding,
  shownMerchant,
  takeBrandingTurn,
} from './branding.sql.ts';
import type { ImageIntake } from './images/intake.ts';
import { touchHostedImage } from './images/product-image.ts';

/** A hosted image of a brand; without a name there is none. */
export interface BrandImage {
  readonly name: string;
  readonly url: string;
}

const noBrandImage: BrandImage = { name: '', url: '' };

/** The images of a brand. */
export interface BrandImages {
  readonly logo: BrandImage;
  readonly darkLogo: BrandImage;
  readonly icon: BrandImage;
}

/** A look with the hosted URLs of its images. */
type HostedLook = Omit<Branding, 'updateAt'>;

/** Hosted pages before the merchant sets anything. */
const plainBrand: HostedLook = { ...plainLook, logoUrl: '', darkLogoUrl: '', iconUrl: '', embedOrigins: [] };

/** The appearance of the merchant's hosted pages; the page's own until the merchant sets it. */
export async function findBranding(queryable: Queryable, merchantId: string): Promise<Branding> {
  const [row] = await queryable.query(brandingOfMerchant, { merchantId });
  if (row === undefined) return { ...plainBrand, updateAt: '' };
  return { ...lookOf(row), updateAt: formatTimestamp(row.updated_at) };
}

/** What is stored before a change. */
interface StoredBranding {
  readonly branding: Branding;
  readonly images: BrandImages;
}

/** The same with its images, for a change: until the transaction ends no other one reads it for a change. */
export async function lockedBranding(transaction: Transaction, merchantId: string): Promise<StoredBranding> {
  await transaction.query(takeBrandingTurn, { of: merchantId });
  const [row] = await transaction.query(lockBranding, { merchantId });
  const branding = await findBranding(transaction, merchantId);
  const images = {
    logo: { name: row?.logo_name ?? '', url: branding.logoUrl },
    darkLogo: { name: row?.dark_logo_name ?? '', url: branding.darkLogoUrl },
    icon: { name: row?.icon_name ?? '', url: branding.iconUrl },
  };
  return { branding, images };
}

function lookOf(row: Omit<Row<typeof brandingOfMerchant>, 'updated_at'>): HostedLook {
  return {
    logoUrl: row.logo_url,
    darkLogoUrl: row.dark_logo_url,
    iconUrl: row.icon_url,
    color: row.color,
    background: row.background,
    cornerRadius: row.corner_radius,
    // A later release may know more fonts.
    font: brandFonts.find((font) => font === row.font) ?? plainLook.font,
    legalName: row.legal_name,
    supportUrl: row.support_url,
    termsUrl: row.terms_url,
    refundUrl: row.refund_url,
    privacyUrl: row.privacy_url,
    embedOrigins: row.embed_origins,
  };
}

/** The merchant's name and branding on hosted pages. */
export interface ShownMerchant extends HostedLook {
  readonly merchantName: string;
}

/** The name and branding of a merchant who has links or sessions. */
export async function findShownMerchant(queryable: Queryable, merchantId: string): Promise<ShownMerchant> {
  const [row] = await queryable.query(shownMerchant, { merchantId });
  if (row === undefined) throw new Error(`there is no merchant ${merchantId}`);
  const { merchant_name: merchantName, ...columns } = row;
  return { merchantName, ...(isBranded(columns) ? lookOf(columns) : plainBrand) };
}

type BrandColumns = Omit<Row<typeof shownMerchant>, 'merchant_name'>;

/** Whether the merchant has a row of branding; then no column is null. */
function isBranded(columns: BrandColumns): columns is Omit<Row<typeof brandingOfMerchant>, 'updated_at'> {
  return columns.color !== null;
}

/** The images that a merchant names, by the field that names each. */
export type BrandImageUrls = Pick<Branding, 'logoUrl' | 'darkLogoUrl' | 'iconUrl'>;

/**
 * Downloads the images that a merchant names, and no others, outside of any transaction. A product can be sold without its
 * image, so that image is retried later. A brand's image that cannot be downloaded is refused (400101).
 */
export async function takeBrandImages(
  intake: ImageIntake,
  queryable: Queryable,
  { merchantId, urls }: { readonly merchantId: string; readonly urls: Partial<BrandImageUrls> },
): Promise<Partial<BrandImages>> {
  const take = async (field: keyof BrandImageUrls, url: string): Promise<BrandImage> => {
    const image = await intake.take(queryable, { merchantId, url });
    if (image.status === 'none') return noBrandImage;
    if (image.status === 'hosted') return { name: image.name, url: image.url };
    throw fieldRefusal(field, `cannot be used: ${image.reason}`);
  };
  const taken: { -readonly [Name in keyof BrandImages]?: BrandImage } = {};
  // One after the other: a merchant downloads few images at once.
  for (const name of ['logo', 'darkLogo', 'icon'] as const) {
    const url = urls[`${name}Url`];
    if (url !== undefined) taken[name] = await take(`${name}Url`, url);
  }
  return taken;
}

/**
 * Makes a branding as wanted, which is what `lockedBranding` has read with the changes in it. Of its images only those that
 * were taken are new. Links keep their versions, because payers agree to a price and not to a look. Refuses one that changed
 * since `ifUpdateAt` (100308); an empty one stands for none so far.
 */
export async function changeBranding(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  change: {
    readonly merchantId: string;
    readonly stored: StoredBranding;
    /** The URLs of its images are not looked at. */
    readonly wanted: Omit<Branding, 'updateAt'>;
    readonly taken: Partial<BrandImages>;
    readonly ifUpdateAt?: string | undefined;
  },
): Promise<void> {
  const { merchantId, stored, wanted, taken, ifUpdateAt } = change;
  const at = deps.clock.now();
  const { logo, darkLogo, icon } = { ...stored.images, ...taken };
  const put = await transaction.query(putBranding, {
    ...wanted,
    merchantId,
    ...{ logoName: logo.name, logoUrl: logo.url },
    ...{ darkLogoName: darkLogo.name, darkLogoUrl: darkLogo.url },
    ...{ iconName: icon.name, iconUrl: icon.url },
    ...{ color: wanted.color.toLowerCase(), background: wanted.background.toLowerCase() },
    embedOrigins: [...new Set(wanted.embedOrigins.map((url) => new URL(url).origin))],
    updatedAt: at,
    ifUpdateAt: ifUpdateAt ?? null,
  });
  if (put.length === 0) throw new Refusal('branding_changed', 'it has changed since it was read');
  // The old images count as unused from now on.
  const kept = new Set(['', logo.name, darkLogo.name, icon.name]);
  for (const name of new Set(Object.values(stored.images).map((image: BrandImage) => image.name)))
    if (!kept.has(name)) await touchHostedImage(transaction, { merchantId, name, at });
}
