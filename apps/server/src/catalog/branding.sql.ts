import { statement } from '@florin/pg';
import { turnOf } from '#db/advisory-lock.ts';
import { isUnchangedSince } from '#db/unchanged-since.ts';

const look = {
  logo_url: 'text',
  dark_logo_url: 'text',
  icon_url: 'text',
  color: 'text',
  background: 'text',
  corner_radius: 'int4',
  font: 'text',
  legal_name: 'text',
  support_url: 'text',
  terms_url: 'text',
  refund_url: 'text',
  privacy_url: 'text',
  embed_origins: 'text[]',
} as const;
const names = Object.keys(look);

export const brandingOfMerchant = statement({
  name: 'branding_of_merchant',
  parameters: { merchantId: 'text' },
  columns: { ...look, updated_at: 'timestamptz' },
  text: `select ${names.join(', ')}, updated_at from branding where merchant_id = :merchantId`,
});

// Held until the transaction ends. Updates read what they leave out, and wait for each other before; the first one has no row
// yet.
export const takeBrandingTurn = turnOf('branding');

// Concurrent updates wait for each other, so that each one releases the images that it replaced.
export const lockBranding = statement({
  name: 'branding_lock',
  parameters: { merchantId: 'text' },
  columns: { logo_name: 'text', dark_logo_name: 'text', icon_name: 'text' },
  text: 'select logo_name, dark_logo_name, icon_name from branding where merchant_id = :merchantId for update',
});

/** No row where the branding changed since `ifUpdateAt`. */
export const putBranding = statement({
  name: 'branding_put',
  parameters: {
    merchantId: 'text',
    logoName: 'text',
    logoUrl: 'text',
    darkLogoName: 'text',
    darkLogoUrl: 'text',
    iconName: 'text',
    iconUrl: 'text',
    color: 'text',
    background: 'text',
    cornerRadius: 'int4',
    font: 'text',
    legalName: 'text',
    supportUrl: 'text',
    termsUrl: 'text',
    refundUrl: 'text',
    privacyUrl: 'text',
    embedOrigins: 'text[]',
    updatedAt: 'timestamptz',
    ifUpdateAt: 'text?',
  },
  columns: { merchant_id: 'text' },
  text: `insert into branding (merchant_id, logo_name, logo_url, dark_logo_name, dark_logo_url, icon_name, icon_url, color, background,
     corner_radius, font, legal_name, support_url, terms_url, refund_url, privacy_url, embed_origins, updated_at)
   values (:merchantId, :logoName, :logoUrl, :darkLogoName, :darkLogoUrl, :iconName, :iconUrl, :color, :background,
     :cornerRadius, :font, :legalName, :supportUrl, :termsUrl, :refundUrl, :privacyUrl, :embedOrigins, :updatedAt)
   on conflict (merchant_id) do update
   set logo_name = excluded.logo_name, logo_url = excluded.logo_url, dark_logo_name = excluded.dark_logo_name,
     dark_logo_url = excluded.dark_logo_url, icon_name = excluded.icon_name, icon_url = excluded.icon_url,
     color = excluded.color, background = excluded.background, corner_radius = excluded.corner_radius,
     font = excluded.font, legal_name = excluded.legal_name, support_url = excluded.support_url,
     terms_url = excluded.terms_url, refund_url = excluded.refund_url, privacy_url = excluded.privacy_url,
     embed_origins = excluded.embed_origins, updated_at = excluded.updated_at
   where ${isUnchangedSince('branding.updated_at')}
   returning merchant_id`,
});

// Every hosted page reads it: name and branding in one query.
export const shownMerchant = statement({
  name: 'branding_shown',
  parameters: { merchantId: 'text' },
  columns: {
    merchant_name: 'text',
    // Null where the merchant has no branding.
    logo_url: 'text?',
    dark_logo_url: 'text?',
    icon_url: 'text?',
    color: 'text?',
    background: 'text?',
    corner_radius: 'int4?',
    font: 'text?',
    legal_name: 'text?',
    support_url: 'text?',
    terms_url: 'text?',
    refund_url: 'text?',
    privacy_url: 'text?',
    embed_origins: 'text[]?',
  },
  // `coalesce` of one value: PostgreSQL describes a column as its table declares it, also where a left join finds no row.
  text: `select m.merchant_name, ${names.map((name) => `coalesce(b.${name}) as ${name}`).join(', ')}
   from merchants m left join branding b on b.merchant_id = m.merchant_id
   where m.merchant_id = :merchantId`,
});
