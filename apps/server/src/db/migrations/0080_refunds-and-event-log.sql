-- Micro-USD that the chain finally shows to have gone back to the payer of the session's order.
alter table sessions add column refunded_amount bigint not null default 0 check (refunded_amount >= 0);

create table refunds (
  refund_id text primary key,
  merchant_id text not null references merchants,
  session_id text not null references sessions,
  order_id text not null references orders,
  -- Micro-USD.
  amount bigint not null check (amount > 0),
  status text not null check (status in ('pending', 'completed', 'failed')),
  reason text not null,
  tx_hash text not null default '',
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index refunds_by_merchant on refunds (merchant_id, ordinal desc);
-- The second wall behind the settle leg's lock: an order goes back once at a time.
create unique index refunds_one_pending_per_order on refunds (order_id) where status = 'pending';

-- Events go after 90 days, but the last one of each object stays without its body: its sequence is where the next one
-- goes on. Reads and the search for old events pass by those remains.
create index events_readable_by_merchant on events (merchant_id, ordinal desc) where body <> '';
drop index events_by_merchant;
create index events_by_age on events (created_at) where body <> '';

-- An event goes together with its deliveries.
create index deliveries_by_event on deliveries (event_id);
