-- The deposit address of an order, in lower case. Transfers in blocks are looked up by it, whatever the number of orders.
-- PostgreSQL cannot compute it: the service fills it in for open orders that are older than this column.
alter table orders add column receiver text;
create index orders_by_receiver on orders (chain_id, receiver);
create index orders_without_receiver on orders (chain_id, pay_by) where receiver is null;

-- The last block of each chain that was searched for transfers to deposit addresses, by the hash that the node gave it.
create table deposit_searches (
  chain_id bigint primary key,
  block_number bigint not null,
  block_hash text not null
);

-- Orders to whose address a block showed a transfer, until a final block shows nothing there any more. Their balances are
-- read before those of all other orders.
create table deposit_sightings (
  order_id text primary key references orders,
  chain_id bigint not null,
  pay_by bigint not null,
  -- The last block that showed one.
  block_number bigint not null
);
create index deposit_sightings_by_deadline on deposit_sightings (chain_id, pay_by, order_id);
