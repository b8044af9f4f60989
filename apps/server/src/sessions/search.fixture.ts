import { statement } from '@florin/pg';

// How the tests of the search make and change rows.

export const insertSessions = statement({
  name: 'search_test_insert',
  parameters: { merchantId: 'text', rows: 'jsonb' },
  text: `insert into sessions (session_id, merchant_id, session_type, business_id, business_type, client_code, account_id,
     account_version, recipient, settlement_token, fee_model, amount, line_items, payer_email_required, success_url, metadata,
     meta_data, salt, channel_id, expiration_time, status, payer, payer_email, paid_token, initiate_tx, complete_tx,
     payment_succeeded_at, created_at, updated_at, refunded_amount)
   select r->>'sessionId', :merchantId, r->>'sessionType', r->>'linkId', '', 'c', r->>'accountId', 'v', '0x', 'ethereum::usdc', 1,
     (r->>'amount')::int8, r->>'items', false, '', r->>'metadata', '0x', '0x', '0x', now(), r->>'status', r->>'payer',
     r->>'payerEmail', r->>'paidToken', r->>'initiateTx', r->>'completeTx', to_timestamp((r->>'paidAt')::float8),
     to_timestamp((r->>'createdAt')::float8), now(), coalesce((r->>'refundedAmount')::int8, 0)
   from jsonb_array_elements(:rows::jsonb) as r`,
});
export const changeEmails = statement({
  name: 'search_test_change',
  parameters: { sessionIds: 'text[]', payerEmail: 'text' },
  text: 'update sessions set payer_email = :payerEmail where session_id = any (:sessionIds)',
});
export const setLink = statement({
  name: 'search_test_link',
  parameters: { sessionId: 'text', linkId: 'text' },
  text: 'update sessions set business_id = :linkId where session_id = :sessionId',
});
export const nameLink = statement({
  name: 'search_test_name',
  parameters: { linkId: 'text', linkName: 'text' },
  text: 'update links set link_name = :linkName where link_id = :linkId',
});
export const addLinks = statement({
  name: 'search_test_links',
  parameters: { merchantId: 'text', accountId: 'text', linkName: 'text', count: 'int4' },
  text: `insert into links (link_id, merchant_id, link_type, link_name, account_id, settlement_token, fee_model, amount,
     payer_email_required, success_url, custom_success_text, custom_disabled_text, status, created_at, updated_at)
   select 'lnk_' || md5(:merchantId || n::text), :merchantId, 'fixed', :linkName, :accountId, 'ethereum::usdc', 1, 1000,
     false, '', '', '', 'active', now(), now() from generate_series(1, :count) as n`,
});
export const forgetWords = statement({
  name: 'search_test_forget',
  text: `with words as (delete from session_words), search as (delete from session_search)
   update session_search_progress set version = 0`,
});
export const fillMany = statement({
  name: 'search_test_fill',
  parameters: { merchantId: 'text', accountId: 'text', count: 'int4' },
  text: `insert into sessions (session_id, merchant_id, session_type, business_id, business_type, client_code, account_id,
     account_version, recipient, settlement_token, fee_model, amount, line_items, payer_email_required, success_url, metadata,
     meta_data, salt, channel_id, expiration_time, status, created_at, updated_at)
   select 'sess_' || md5(:merchantId || n::text), :merchantId, 'chk', '', '', 'c', :accountId, 'v', '0x', 'ethereum::usdc', 1,
     1000, '[]', false, '', case when n = 1 then '{"ref":"needle"}' else '{"ref":"hay"}' end, '0x', '0x', '0x', now(),
     case when n = 2 then 'paid' else 'completed' end, now(), now()
   from generate_series(1, :count) as n`,
});

export const addNoise = statement({
  name: 'search_test_noise',
  parameters: { merchantId: 'text', accountId: 'text', count: 'int4' },
  text: `insert into sessions (session_id, merchant_id, session_type, business_id, business_type, client_code, account_id,
     account_version, recipient, settlement_token, fee_model, amount, line_items, payer_email_required, success_url, metadata,
     meta_data, salt, channel_id, expiration_time, status, created_at, updated_at)
   select 'sess_n' || md5(:merchantId || n::text), :merchantId, 'chk', '', '', 'c', :accountId, 'v', '0x', 'ethereum::usdc', 1,
     2000, '[]', false, '', '{}', '0x', '0x', '0x', now(), 'expired', now(), now()
   from generate_series(1, :count) as n`,
});

/** The row of a paid session, for `insertSessions`. */
export function paidRow(names: {
  readonly sessionId: string;
  readonly accountId: string;
  readonly payerEmail: string;
}): string {
  const row = {
    ...{ ...names, sessionType: 'chk', linkId: '', amount: 5, items: '[]', metadata: '{}', status: 'paid' },
    ...{ payer: '', paidToken: '', initiateTx: '', completeTx: '', paidAt: null, createdAt: 1_700_000_000 },
  };
  return JSON.stringify([row]);
}
