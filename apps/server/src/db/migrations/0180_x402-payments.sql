-- The payment by x402 that was taken for an order. A repeat of a request is compared with it: a receipt goes only to the
-- client that sends the same signed authorization again.
create table x402_payments (
  order_id text primary key references orders,
  session_id text not null references sessions,
  chain_id bigint not null,
  -- The order's deposit address, lower case.
  pay_to text not null,
  -- SHA-256 of the token, the authorization (its payer included) and its signature, in hex.
  payload_hash text not null,
  -- Whether the payer's money was seen at the address although no transaction of ours had brought it.
  is_moved boolean not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
-- A request names the address that it pays to.
create unique index x402_payments_by_address on x402_payments (chain_id, pay_to);
