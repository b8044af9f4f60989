-- Payers with code at their address: it can make its payment fail at the service's cost (docs/decisions/0071). How many have
-- failed, or may yet, is counted for a day; and their gas counts a second time, in a share of its own.
alter table submissions add column is_smart_account boolean not null default false;
create index submissions_of_smart_accounts on submissions (created_at) where is_smart_account;
alter table relayed_gas drop constraint relayed_gas_kind_check;
alter table relayed_gas
  add constraint relayed_gas_kind_check check (kind in ('payments', 'returns', 'smart_accounts'));
