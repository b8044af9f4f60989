-- What vaults have paid for orders that this database does not know: the keys of the service were used elsewhere, or the
-- order was signed after the backup from which the database was restored.
create table unknown_payouts (
  chain_id bigint not null,
  order_id text not null,
  tx_hash text not null,
  block_time timestamptz not null,
  primary key (chain_id, order_id, tx_hash)
);
