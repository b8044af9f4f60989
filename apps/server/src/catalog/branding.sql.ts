import { statement } from '@florin/pg';

export const brandingOfMerchant = statement(
  'branding_of_merchant',
  ['text'],
  { logo_name: 'text', logo_url: 'text', color: 'text', updated_at: 'timestamptz' },
  'select logo_name, logo_url, color, updated_at from branding where merchant_id = $1',
);

// The row that was there, if any, is locked: two updates at once replace one another in order, and each lets the logo
// go that it has really replaced.
export const lockBranding = statement(
  'branding_lock',
  ['text'],
  { logo_name: 'text' },
  'select logo_name from branding where merchant_id = $1 for update',
);

export const putBranding = statement(
  'branding_put',
  ['text', 'text', 'text', 'text', 'timestamptz'],
  {},
  `insert into branding (merchant_id, logo_name, logo_url, color, updated_at) values ($1, $2, $3, $4, $5)
   on conflict (merchant_id) do update
   set logo_name = excluded.logo_name, logo_url = excluded.logo_url, color = excluded.color,
     updated_at = excluded.updated_at`,
);

// What every hosted page begins with, in one round trip.
export const frontOfMerchant = statement(
  'branding_front',
  ['text'],
  { merchant_name: 'text', logo_url: 'text', color: 'text' },
  `select m.merchant_name, coalesce(b.logo_url, '') as logo_url, coalesce(b.color, '') as color
   from merchants m left join branding b on b.merchant_id = m.merchant_id
   where m.merchant_id = $1`,
);
