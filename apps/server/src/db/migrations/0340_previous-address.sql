-- The address that an account had before a change gave it another one; empty for a wallet that is added.
alter table account_changes add column previous_address text not null default '';
-- An account has the address of the change before. The first address of one that the operator added is in no change.
update account_changes c set previous_address = coalesce((
  select b.account_address from account_changes b
  where b.account_id = c.account_id and b.status = 'done' and b.effective_at < c.effective_at
  order by b.effective_at desc limit 1), '')
where c.kind = 'address';
-- An account that never changed still has the address that a waiting change replaces.
update account_changes c set previous_address = a.account_address from accounts a
where a.account_id = c.account_id and c.kind = 'address' and c.status = 'waiting';
