import { statement } from '@florin/pg';

// The index by status finds what is not settled yet, which is little beside what is. What went back to its payer stays paid.
// A payment that its chain took back is on no way.
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
     and s.refunded_amount = 0 and s.pending_reason <> 'payment_reorged'
   group by s.account_id, s.settlement_token, s.status order by s.account_id, s.settlement_token, s.status`,
});
