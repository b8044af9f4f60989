-- Books that prove themselves (docs/decisions/0021): a hash chain over the ledger, and what the chains hold beside it.

-- Fees are due from the payment on and earned by the settlement, as the gateway counts them. Those of payments from before
-- that are not settled yet stand under the earned ones.
with early as (
  select p.asset, -sum(p.amount) as fee
  from ledger_postings p join ledger_entries e on e.entry_id = p.entry_id
  where e.kind = 'payment' and p.ledger_account = 'fees' and not exists (
    select from ledger_entries o
    where o.order_id = e.order_id and o.kind in ('settlement', 'refund', 'reclaim')
  )
  group by p.asset having sum(p.amount) <> 0
), entry as (
  insert into ledger_entries (entry_key, kind, order_id, chain_id, tx_hash, created_at)
  select 'opening:fees', 'opening', '', 0, '', now() where exists (select from early)
  returning entry_id
)
insert into ledger_postings (entry_id, position, ledger_account, asset, amount)
select entry.entry_id, row_number() over (order by early.asset, side.ledger_account), side.ledger_account, early.asset,
  side.sign * early.fee
from entry, early, (values ('fees', 1), ('fees:due', -1)) as side (ledger_account, sign);

-- Balances are summed up every minute, from the index alone.
create index ledger_postings_balances on ledger_postings (ledger_account, asset) include (amount);
drop index ledger_postings_by_account;

-- Entries that no seal covers yet. A queue, so that whoever books never waits for whoever seals.
create table ledger_unsealed (entry_id bigint primary key references ledger_entries);
insert into ledger_unsealed select entry_id from ledger_entries;
alter table ledger_unsealed set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- One per entry, in the order of sealing: the hash over the seal before and the entry with its postings.
create table ledger_seals (
  seal_number bigint primary key check (seal_number > 0),
  entry_id bigint not null unique references ledger_entries,
  hash bytea not null check (length(hash) = 32),
  sealed_at timestamptz not null
);

-- Where the chain of seals ends. Its only row is the lock that sealers take turns by.
create table ledger_head (
  is_only boolean primary key default true check (is_only),
  seal_number bigint not null,
  hash bytea not null
);
insert into ledger_head (seal_number, hash) values (0, decode(repeat('00', 32), 'hex'));

create trigger ledger_seals_append_only before update or delete or truncate on ledger_seals
  for each statement execute function ledger_append_only();

-- The owner of a table may give its own rights up. One column's stays: a foreign key locks the row that it points to with
-- the owner's right to update, and the triggers refuse every update anyway.
do $$
declare
  sealed text;
begin
  foreach sealed in array array['ledger_entries', 'ledger_postings', 'ledger_seals'] loop
    execute format('revoke update, delete, truncate on %I from current_user', sealed);
  end loop;
  execute 'grant update (entry_id) on ledger_entries to current_user';
end $$;

-- Not empty: nothing is settled, paid out or refunded on the chain until a person, or the catch-up after a restored backup,
-- releases it. Watching goes on.
alter table chain_cursors add column stopped_reason text not null default '';

-- Whether books and chain agree, by chain.
create table chain_reconciliations (
  chain_id bigint primary key,
  -- Whoever moves it on has the next look.
  next_at timestamptz not null,
  -- The last block at which every balance was compared and none differed.
  agreed_number bigint,
  agreed_hash text not null default '',
  agreed_at timestamptz,
  -- Looks in a row that found a difference.
  drift_runs int not null default 0,
  -- Why the last look could not be made, empty when it could.
  failure text not null default '',
  looked_at timestamptz,
  -- After a restored backup: the chain's head at the first look, which the books have to reach.
  catch_up_number bigint
);

-- What the last look found, by holder (gateway, vault, fees) and token. A row that stands is a balance whose books are open.
create table reconciled_balances (
  chain_id bigint not null,
  holder text not null check (holder in ('gateway', 'vault', 'fees')),
  asset text not null,
  ledger_amount numeric(78, 0) not null,
  chain_amount numeric(78, 0) not null,
  block_number bigint not null,
  updated_at timestamptz not null,
  primary key (chain_id, holder, asset)
);

-- Payments of orders that this database does not know: signed before a backup older than them was restored. Everything that
-- the chain tells of them.
create table unmatched_payments (
  chain_id bigint not null,
  order_id text not null,
  tx_hash text not null,
  block_number bigint not null,
  block_time timestamptz not null,
  channel_id text not null,
  meta_data text not null,
  payer text not null,
  recipient text not null,
  token text not null,
  total numeric(78, 0) not null,
  payment numeric(78, 0) not null,
  fee numeric(78, 0) not null,
  order_type int not null,
  status text not null check (status in ('paid', 'settled', 'refunded', 'reclaimed')),
  outcome_tx text not null default '',
  primary key (chain_id, order_id)
);
