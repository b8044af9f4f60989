-- An account's address changes after the same delay as a wallet that is added.
alter table account_changes add column kind text not null default 'add' check (kind in ('add', 'address'));
alter table account_changes alter column kind drop default;
-- An account has one new address at a time.
create unique index account_changes_one_per_account on account_changes (account_id) where status = 'waiting';
