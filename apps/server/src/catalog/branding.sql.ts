import { statement } from '@florin/pg';

export const brandingOfMerchant = statement({
  name: 'branding_of_merchant',
  parameters: { merchantId: 'text' },
  columns: { logo_name: 'text', logo_url: 'text', color: 'text', updated_at: 'timestamptz' },
  text: 'select logo_name, logo_url, color, updated_at from branding where merchant_id = :merchantId',
});

// Concurrent updates wait for each other, so that each one releases the logo that it replaced.
export const lockBranding = statement({
  name: 'branding_lock',
  parameters: { merchantId: 'text' },
  columns: { logo_name: 'text' },
  text: 'select logo_name from branding where merchant_id = :merchantId for update',
});

export const putBranding = statement({
  name: 'branding_put',
  parameters: {
    merchantId: 'text',
    logoName: 'text',
    logoUrl: 'text',
    color: 'text',
    updatedAt: 'timestamptz',
  },
  columns: {},
  text: `insert into branding (merchant_id, logo_name, logo_url, color, updated_at) values (:merchantId, :logoName, :logoUrl, :color, :updatedAt)
   on conflict (merchant_id) do update
   set logo_name = excluded.logo_name, logo_url = excluded.logo_url, color = excluded.color,
     updated_at = excluded.updated_at`,
});

// Every hosted page reads it: name and branding in one query.
export const shownMerchant = statement({
  name: 'branding_shown',
  parameters: { merchantId: 'text' },
  columns: { merchant_name: 'text', logo_url: 'text', color: 'text' },
  text: `select m.merchant_name, coalesce(b.logo_url, '') as logo_url, coalesce(b.color, '') as color
   from merchants m left join branding b on b.merchant_id = m.merchant_id
   where m.merchant_id = :merchantId`,
});
