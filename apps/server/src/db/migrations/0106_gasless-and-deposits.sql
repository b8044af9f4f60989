-- relay brings a payer's signed payment to the gateway, collect takes one out of its deposit address, rescue sends what
-- no order can use from there to its payer.
alter table sent_transactions drop constraint sent_transactions_purpose_check;
alter table sent_transactions add constraint sent_transactions_purpose_check
  check (purpose in ('settle', 'payout', 'mint', 'refund', 'fill', 'relay', 'collect', 'rescue'));

-- After the settlement the money is the merchant's: such a refund waits for a transaction that the merchant signs. Any
-- number of them may wait; the gateway caps what they can give back together.
alter table refunds drop constraint refunds_status_check;
alter table refunds add constraint refunds_status_check
  check (status in ('requires_signature', 'pending', 'completed', 'failed'));
create index refunds_to_sign on refunds (order_id, ordinal) where status = 'requires_signature';

-- Payments by a payer's signature that the service sends at its own cost: one per order. The row is written in the
-- transaction that stores the signed transaction, before anything is broadcast.
create table submissions (
  order_id text primary key references orders,
  session_id text not null references sessions,
  chain_id bigint not null,
  method text not null check (method in ('eip3009', 'permit2', 'x402')),
  -- Who signed, lower case.
  payer text not null,
  -- What the budgets count by: the payment link, or else the merchant; and the client's network.
  seller text not null,
  network text not null,
  gas_limit bigint not null,
  status text not null check (status in ('sent', 'succeeded', 'failed')),
  transaction_id bigint not null references sent_transactions,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index submissions_by_session on submissions (session_id);
create index submissions_by_transaction on submissions (transaction_id);
-- The budgets of a day.
create index submissions_by_payer on submissions (payer, created_at);
create index submissions_by_seller on submissions (seller, created_at);
create index submissions_by_network on submissions (network, created_at);

-- What the service sends for deposit addresses: collect at most once at a time for an order, rescue for each token.
create table deposit_moves (
  order_id text not null references orders,
  move text not null check (move in ('collect', 'rescue')),
  -- Lower case.
  token text not null,
  chain_id bigint not null,
  status text not null check (status in ('sent', 'succeeded', 'failed')),
  transaction_id bigint not null references sent_transactions,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (order_id, move, token)
);
create index deposit_moves_by_transaction on deposit_moves (transaction_id);
-- Orders whose deposit addresses are looked at, in the order of their deadlines.
create index orders_by_deadline on orders (chain_id, pay_by, order_id);

-- What went another way than a payment should: each kind once for an order and a token.
create table exceptions (
  exception_id text primary key,
  merchant_id text not null references merchants,
  session_id text not null references sessions,
  order_id text not null references orders,
  kind text not null check (kind in ('duplicate', 'duplicate_settled', 'refunded', 'reclaimed', 'underpaid', 'overpaid',
    'late', 'wrong_token')),
  token_id text not null,
  amount_in_token numeric(78, 0) not null,
  payer text not null,
  tx_hash text not null,
  -- resolved: the money is where it belongs, or somebody has said so.
  status text not null check (status in ('open', 'resolved')),
  resolved_tx text not null default '',
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (order_id, kind, token_id)
);
create index exceptions_by_merchant on exceptions (merchant_id, ordinal desc);
