-- The tables of the watcher and the sender. Run it in your migrations. `order_id` is the id of what an event is about:
-- 32 bytes of your choice. Add constraints and policies of row-level security as you need them.

create table chain_cursors (
  chain_id bigint primary key,
  head_number bigint not null,
  head_hash text not null,
  head_time timestamptz not null,
  final_number bigint not null,
  final_hash text not null,
  final_time timestamptz not null,
  -- Not empty: the chain is halted, and nothing of it moves until an operator resumes it.
  halted_reason text not null default '',
  updated_at timestamptz not null,
  -- One process follows a chain at a time. Its term grows with every change of leader, and its beat while it lives.
  leader_id text not null default '',
  leader_term bigint not null default 0,
  leader_beat bigint not null default 0,
  -- An operator has resumed the halted chain: begin again from the last block that the chain still has.
  is_resync_due boolean not null default false,
  -- The next final block to be read a second time; null: none.
  backfill_next bigint,
  -- Grows whenever final blocks are taken back: what a process read of the chain before is no longer true.
  rewinds bigint not null default 0
);

create table chain_blocks (
  chain_id bigint not null,
  block_number bigint not null,
  block_hash text not null,
  parent_hash text not null,
  block_time timestamptz not null,
  primary key (chain_id, block_number)
);

-- Events in canonical blocks. A row is deleted when its block is reorged out.
create table chain_events (
  chain_id bigint not null,
  block_number bigint not null,
  block_hash text not null,
  log_index int not null,
  tx_hash text not null,
  block_time timestamptz not null,
  contract text not null,
  event_name text not null,
  order_id text not null,
  -- By name; integers as decimal strings.
  arguments jsonb not null,
  is_final boolean not null default false,
  -- Derived events may be in the place of one log.
  primary key (chain_id, block_number, log_index, contract, event_name)
);
-- An event is updated once, when its block becomes final. In a half-empty page, and without an index on is_final, that
-- changes one page and no index.
alter table chain_events set (fillfactor = 50);
create index chain_events_by_order on chain_events (order_id);

-- Final events that a reorganisation below finality took away.
create table dropped_events (
  chain_id bigint not null,
  block_number bigint not null,
  block_hash text not null,
  log_index int not null,
  tx_hash text not null,
  block_time timestamptz not null,
  contract text not null,
  event_name text not null,
  order_id text not null,
  arguments jsonb not null,
  dropped_at timestamptz not null,
  -- When the same event became final again, in any block.
  returned_at timestamptz,
  primary key (chain_id, block_hash, log_index, contract, event_name)
);
create index dropped_events_missing on dropped_events (order_id) where returned_at is null;

create table wallet_nonces (
  chain_id bigint not null,
  wallet text not null,
  next_nonce bigint not null,
  primary key (chain_id, wallet)
);

-- One row for each nonce that we used. Attempts share the nonce and differ in fees.
create table sent_transactions (
  transaction_id bigint generated always as identity primary key,
  chain_id bigint not null,
  wallet text not null,
  nonce bigint not null,
  purpose text not null,
  recipient text not null,
  call_data text not null,
  gas_limit bigint not null,
  -- pending: not final yet. succeeded and failed: final by the chain's policy. superseded: a transaction that this database
  -- does not know took the nonce for good.
  status text not null check (status in ('pending', 'succeeded', 'failed', 'superseded')),
  -- The attempt that is in a block of the stored chain.
  mined_hash text not null default '',
  mined_block bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (chain_id, wallet, nonce)
);
create index sent_transactions_pending on sent_transactions (chain_id, wallet, nonce) where status = 'pending';
create index sent_transactions_listed on sent_transactions (chain_id, status, transaction_id);

create table sent_attempts (
  tx_hash text primary key,
  transaction_id bigint not null references sent_transactions,
  raw text not null,
  max_fee numeric(78, 0) not null,
  priority_fee numeric(78, 0) not null,
  created_at timestamptz not null,
  -- Why every node refused it when it was last broadcast; empty while a node has it.
  refusal text not null default '',
  -- Whether blocks ask for more than it offers while the limit allows no higher fee.
  is_capped boolean not null default false
);
create index sent_attempts_by_transaction on sent_attempts (transaction_id);
