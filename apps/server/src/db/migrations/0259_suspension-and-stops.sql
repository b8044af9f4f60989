-- Suspended by the operator: no new sessions, and links show as disabled. Open sessions, settlement and refunds go on.
alter table merchants add column suspended_at timestamptz;
-- The same on each account, which the statement that stores a session reads anyway.
alter table accounts add column is_suspended boolean not null default false;

-- Tokens in which the operator takes no new orders.
create table token_stops (
  token_id text primary key,
  reason text not null,
  stopped_at timestamptz not null
);

-- The operator's acts and those of people about themselves belong to no merchant. Only the system's scope sees them.
alter table audit_entries alter column merchant_id drop not null;
create index audit_entries_of_no_merchant on audit_entries (entry_id desc) where merchant_id is null;

-- Invitations to the operator's staff belong to no merchant either.
alter table invitations alter column merchant_id drop not null;
alter table invitations drop constraint invitations_role_check;
alter table invitations add constraint invitations_role_check check (
  role in ('owner', 'admin', 'developer', 'finance', 'support', 'viewer') and merchant_id is not null
  or role = 'staff' and merchant_id is null
);
