import { statement } from '@florin/pg';

// The index by status finds what is not settled yet, which is little beside what is. What went back to its payer stays paid.
export const onItsWay = statement({
  name: 'dashboard_on_its_way',
  parameters: { merchantId: 'text' },
  columns: {
    account_id: 'text',
    settlement_token: 'text',
    status: 'text',
    payments: 'int8',
    net_value: 'numeric',
  },
  text: `select s.account_id, s.settlement_token, s.status, count(*) as payments, sum(o.net_value) as net_value
   from sessions s join orders o on o.order_id = s.order_id
   where s.merchant_id = :merchantId and s.status in ('paid', 'settling', 'settlement_pending')
     and s.refunded_amount = 0
   group by s.account_id, s.settlement_token, s.status order by s.account_id, s.settlement_token, s.status`,
});

export const needsAttention = statement({
  name: 'dashboard_attention',
  parameters: { merchantId: 'text', now: 'timestamptz', expireBefore: 'timestamptz' },
  columns: { kind: 'text', total: 'int8', ids: 'text[]' },
  text: `select kind, count(*) as total, (array_agg(id order by since))[1:20] as ids from (
     select 'exceptions' as kind, exception_id as id, created_at as since
     from exceptions where merchant_id = :merchantId and status = 'open'
     union all
     select 'webhooks', webhook_id, created_at from webhooks where merchant_id = :merchantId and status = 'paused'
     union all
     select 'settlements', session_id, updated_at from sessions
     where merchant_id = :merchantId and status = 'settlement_pending'
     union all
     select 'keys', key_id, expires_at from api_keys
     where merchant_id = :merchantId and revoked_at is null and expires_at > :now and expires_at <= :expireBefore
   ) as found group by kind order by kind`,
});
