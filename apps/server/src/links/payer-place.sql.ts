import { statement } from '@florin/pg';

// Two indexes of links find an origin among a million of them. A merchant has one row of branding.
export const usedOrigins = statement({
  name: 'payer_place_used_origins',
  parameters: { merchantId: 'text', origins: 'text[]' },
  columns: { origin: 'text' },
  text: `select origin from unnest(:origins::text[]) as origin
   where exists (select from links where merchant_id = :merchantId and success_origin = origin and status <> 'deleted')
     or exists (select from links where merchant_id = :merchantId and cancel_origin = origin and status <> 'deleted')
     or exists (select from branding where merchant_id = :merchantId and origin = any(embed_origins))`,
});
