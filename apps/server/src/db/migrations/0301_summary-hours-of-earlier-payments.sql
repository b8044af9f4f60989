-- Payments from before the hours were kept. Those since are among the changes: no worker of this version runs yet, so none
-- of them was moved. This locks no session.
insert into summary_hours
select v.merchant_id, date_trunc('hour', v.at, 'UTC'), v.kind, s.account_id, v.token_id, count(*), sum(v.total_value),
  sum(v.fee_value), sum(v.net_value)
from summary_values v join sessions s on s.session_id = v.session_id
where not exists (
  select from summary_changes c
  where c.merchant_id = v.merchant_id and c.at = v.at and c.kind = v.kind and c.session_id = v.session_id)
group by 1, 2, 3, 4, 5;
