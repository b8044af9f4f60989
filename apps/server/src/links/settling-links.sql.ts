import { statement } from '@florin/pg';

/** A merchant's active links that settle in one of the tokens, and the oldest 20 of them. */
export const linksSettlingIn = statement({
  name: 'links_settling_in',
  parameters: { merchantId: 'text', tokenIds: 'text[]' },
  columns: { total: 'int8', ids: 'text[]?' },
  text: `select count(*) as total, (array_agg(link_id order by created_at, link_id))[1:20] as ids from links
   where merchant_id = :merchantId and status = 'active' and settlement_token = any (:tokenIds)`,
});

/** Of all merchants. Links are few beside sessions, so an operator's question reads all of them. */
export const allLinksSettlingIn = statement({
  name: 'links_of_all_settling_in',
  parameters: { tokenIds: 'text[]' },
  columns: { links: 'int8', merchants: 'int8' },
  text: `select count(*) as links, count(distinct merchant_id) as merchants from links
   where status = 'active' and settlement_token = any (:tokenIds)`,
});
