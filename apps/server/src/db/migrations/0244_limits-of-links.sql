-- Limits of payment links; null where a link has none.
alter table links add column max_payments int check (max_payments between 1 and 1000000);
alter table links add column active_until timestamptz;

-- Final payments of the link's sessions. Each is counted in the transaction that makes it final.
alter table links add column payment_count bigint not null default 0;
update links set payment_count = counted.payments
from (
  select business_id, count(*) as payments from sessions
  where business_type = 'payment_link' and payment_succeeded_at is not null group by business_id
) as counted
where counted.business_id = links.link_id;

-- The links that end next.
create index links_by_end on links (active_until) where status = 'active' and active_until is not null;
