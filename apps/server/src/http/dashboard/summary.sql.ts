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

// The values of a period lie side by side in the index, which has all that is read.
export const sumsOfPeriods = statement({
  name: 'dashboard_period_sums',
  parameters: { merchantId: 'text', times: 'timestamptz[]' },
  columns: {
    period: 'int4',
    kind: 'text',
    token_id: 'text',
    payments: 'int8',
    total_value: 'numeric',
    fee_value: 'numeric',
    net_value: 'numeric',
  },
  text: `select place - 1 as period, kind, token_id, payments, total_value, fee_value, net_value
   from generate_series(1, cardinality(:times::timestamptz[]) - 1) as place
   cross join lateral (
     select kind, token_id, count(*) as payments, sum(total_value) as total_value, sum(fee_value) as fee_value,
       sum(net_value) as net_value
     from summary_values
     where merchant_id = :merchantId and at >= (:times::timestamptz[])[place] and at < (:times::timestamptz[])[place + 1]
     group by kind, token_id
   ) as sums order by period, kind, token_id`,
});
