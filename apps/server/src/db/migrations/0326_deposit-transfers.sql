-- Each transfer to a deposit address, as a node showed it: what a payment in parts was made of. A hint and no proof.
create table deposit_transfers (
  order_id text not null references orders,
  chain_id bigint not null,
  -- Lower case.
  token text not null,
  amount numeric(78, 0) not null,
  tx_hash text not null,
  log_index bigint not null,
  block_number bigint not null,
  seen_at timestamptz not null,
  primary key (order_id, tx_hash, log_index)
);
-- After a reorganisation those of replaced blocks go.
create index deposit_transfers_by_block on deposit_transfers (chain_id, block_number);
-- A merchant reads the transfers to its own sessions, and changes none.
create policy readable on deposit_transfers for select using (
  case (select current_setting('florin.merchant', true)) when '*' then true
  else (select true from orders p where p.order_id = deposit_transfers.order_id) end);
