-- Wallets that members add. All but a merchant's first take effect after a delay, and can be cancelled until then.
create table account_changes (
  change_id text primary key,
  merchant_id text not null references merchants,
  account_name text not null,
  account_address text not null,
  settlement_currencies text[] not null,
  settlement_mode text not null check (settlement_mode in ('', 'escrow', 'direct')),
  -- Whether the wallet signed that settlements may go to it.
  is_proven boolean not null,
  requested_by text not null,
  created_at timestamptz not null,
  effective_at timestamptz not null,
  status text not null check (status in ('waiting', 'done', 'cancelled', 'refused')),
  account_id text references accounts
);
create index account_changes_by_merchant on account_changes (merchant_id, created_at);
-- The worker asks each second what is due.
create index account_changes_waiting on account_changes (effective_at) where status = 'waiting';
-- An address waits once.
create unique index account_changes_one_per_address on account_changes (merchant_id, account_address)
  where status = 'waiting';
