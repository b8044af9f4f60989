-- Payments from before the triggers. The triggers are in place by now, in a transaction of their own: no payment is missed,
-- and this one locks no session.
insert into summary_values
select s.merchant_id, s.payment_succeeded_at, 'received', s.session_id, s.paid_token, o.total_value, o.fee_value, o.net_value
from sessions s join orders o on o.order_id = s.order_id where s.payment_succeeded_at is not null
union all
select s.merchant_id, s.settlement_succeeded_at, 'settled', s.session_id, s.settlement_token, o.total_value, o.fee_value, o.net_value
from sessions s join orders o on o.order_id = s.order_id where s.settlement_succeeded_at is not null
on conflict do nothing;
