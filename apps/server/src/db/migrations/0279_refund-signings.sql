-- The return of a settled payment that a member's wallet was asked to sign. One per payment: of two parts that are signed at
-- once, both would reach the payer (docs/decisions/0145).
create table refund_signings (
  order_id text primary key references orders,
  merchant_id text not null references merchants,
  refund_id text not null references refunds,
  -- Chosen by the page that asks its wallet. Only who names it replaces or ends the signing.
  signing_id text not null,
  user_id text not null,
  account text not null,
  -- Empty until the wallet has told it.
  tx_hash text not null default '',
  asked_at timestamptz not null
);
create index refund_signings_by_refund on refund_signings (refund_id);
