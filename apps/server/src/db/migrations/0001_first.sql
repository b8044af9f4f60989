-- The first schema. Forward only: later files add to it.

create table merchants (
  merchant_id text primary key,
  merchant_name text not null,
  created_at timestamptz not null
);

-- Only the SHA-256 of a key is kept; last4 helps people to tell keys apart.
create table api_keys (
  key_id text primary key,
  merchant_id text not null references merchants,
  kind text not null check (kind in ('secret', 'restricted')),
  key_hash bytea not null unique,
  last4 text not null,
  permissions text[] not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null
);
create index api_keys_by_merchant on api_keys (merchant_id);

create table accounts (
  account_id text primary key,
  merchant_id text not null references merchants,
  account_name text not null,
  account_address text not null,
  settlement_currencies text[] not null,
  version text not null,
  status text not null check (status in ('normal', 'removed')),
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index accounts_by_merchant on accounts (merchant_id, ordinal desc);
create unique index accounts_one_per_address on accounts (merchant_id, account_address) where status = 'normal';

create table products (
  product_id text primary key,
  merchant_id text not null references merchants,
  product_name text not null,
  description text not null,
  image_url text not null,
  status text not null check (status in ('active', 'archived', 'removed')),
  common_prices bigint[] not null,
  -- [{name, value}] in the order given.
  attributes jsonb not null,
  -- Set once by the first payment link that ever referenced the product; forbids removal.
  referenced boolean not null default false,
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index products_by_merchant on products (merchant_id, ordinal desc) where status <> 'removed';

create table links (
  link_id text primary key,
  merchant_id text not null references merchants,
  link_type text not null check (link_type in ('fixed', 'custom')),
  link_name text not null,
  account_id text not null references accounts,
  settlement_token text not null,
  fee_model int not null check (fee_model in (1, 2)),
  amount bigint not null check (amount >= 0),
  payer_email_required boolean not null,
  success_url text not null,
  custom_success_text text not null,
  custom_disabled_text text not null,
  status text not null check (status in ('active', 'disabled', 'deleted')),
  disabled_reason text not null default '',
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index links_by_merchant on links (merchant_id, ordinal desc) where status <> 'deleted';
create index links_by_account on links (account_id);

create table link_items (
  line_item_id text primary key,
  link_id text not null references links,
  position int not null,
  item_type text not null check (item_type in ('product', 'user_priced')),
  -- Empty when a user_priced item shows no product.
  product_id text not null,
  quantity int not null check (quantity >= 1),
  unit_price bigint not null check (unit_price >= 0),
  unique (link_id, position)
);
create index link_items_by_product on link_items (product_id);

create table sessions (
  session_id text primary key,
  merchant_id text not null references merchants,
  session_type text not null check (session_type in ('chk', 'ai_checkout', 'lnk')),
  business_id text not null,
  business_type text not null,
  client_code text not null,
  account_id text not null references accounts,
  account_version text not null,
  recipient text not null,
  settlement_token text not null,
  fee_model int not null check (fee_model in (1, 2)),
  -- Micro-USD: the sum of the items.
  amount bigint not null check (amount > 0),
  -- The snapshot as reads return it: [{lineItemId, itemType, productId, quantity, unitPrice, productData}].
  line_items jsonb not null,
  payer_email_required boolean not null,
  success_url text not null,
  -- The merchant's own text, byte for byte; jsonb would reorder keys and rewrite numbers.
  metadata text not null,
  -- Single-use key on chain: hash of the line items and the salt.
  meta_data text not null unique,
  salt text not null,
  channel_id text not null,
  -- Set for ai_checkout sessions when they are created.
  intended_payer text not null default '',
  intended_token text not null default '',
  -- For custom links: the total that the payer signed, in Micro-USD; null otherwise.
  chosen_total bigint,
  expiration_time timestamptz not null,
  signed_once boolean not null default false,
  status text not null check (status in
    ('initialized', 'paid', 'settling', 'completed', 'settlement_pending', 'expired', 'cancelled')),
  pending_reason text not null default '',
  payer text not null default '',
  payer_email text not null default '',
  paid_token text not null default '',
  receipt_id text not null default '',
  -- The order that was paid; set with the move to paid.
  order_id text not null default '',
  initiate_tx text not null default '',
  complete_tx text not null default '',
  payment_succeeded_at timestamptz,
  settlement_succeeded_at timestamptz,
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
-- Lists: newest first, of one merchant, of one status or all.
create index sessions_by_merchant on sessions (merchant_id, ordinal desc);
create index sessions_by_status on sessions (merchant_id, status, ordinal desc);
-- Expiry is one batch over this small index, never a job per session.
create index sessions_expiring on sessions (expiration_time) where status = 'initialized';
create index sessions_awaiting on sessions (updated_at) where status in ('paid', 'settling', 'settlement_pending');

-- Every order that the service ever signed. The chain takes at most one per session and chain (metaData).
create table orders (
  order_id text primary key,
  session_id text not null references sessions,
  chain_id bigint not null,
  token_id text not null,
  channel_id text not null,
  meta_data text not null,
  payer text not null,
  payer_email text not null,
  token text not null,
  recipient text not null,
  total numeric(78, 0) not null check (total > 0),
  payment numeric(78, 0) not null,
  fee numeric(78, 0) not null,
  pay_by bigint not null,
  reclaim_at bigint not null,
  order_type int not null check (order_type in (0, 1, 2)),
  target_chain bigint not null,
  -- The same four figures in Micro-USD.
  total_value bigint not null,
  payment_value bigint not null,
  fee_value bigint not null,
  net_value bigint not null,
  signature text not null,
  created_at timestamptz not null
);
create index orders_by_session on orders (session_id);

-- One nonce space for create and prepare; claimed in the transaction that inserts what it authorizes.
create table authorizations (
  payer text not null,
  nonce text not null,
  purpose text not null,
  digest text not null,
  session_id text not null references sessions,
  order_id text not null default '',
  created_at timestamptz not null,
  primary key (payer, nonce)
);

-- Chain watching -------------------------------------------------------------

-- Our view of each chain: head of the stored canonical chain and the last final block in it. The cursor moves by
-- compare-and-set on head_hash, which also fences a second watcher of the same chain.
create table chain_cursors (
  chain_id bigint primary key,
  head_number bigint not null,
  head_hash text not null,
  head_time timestamptz not null,
  final_number bigint not null,
  final_hash text not null,
  final_time timestamptz not null,
  -- Not empty: the breaker has tripped, nothing on this chain moves until an operator looks.
  halted_reason text not null default '',
  updated_at timestamptz not null
);

create table chain_blocks (
  chain_id bigint not null,
  block_number bigint not null,
  block_hash text not null,
  parent_hash text not null,
  block_time timestamptz not null,
  primary key (chain_id, block_number)
);

-- Events of our contracts in canonical blocks; rows go when their block is reorged out.
create table chain_events (
  chain_id bigint not null,
  block_number bigint not null,
  block_hash text not null,
  log_index int not null,
  tx_hash text not null,
  block_time timestamptz not null,
  contract text not null check (contract in ('gateway', 'vault')),
  event_name text not null,
  order_id text not null,
  -- The event's arguments, integers as decimal strings.
  arguments jsonb not null,
  -- Whether the block was final when last looked at; set once.
  is_final boolean not null default false,
  primary key (chain_id, block_number, log_index)
);
create index chain_events_by_order on chain_events (order_id);
create index chain_events_not_final on chain_events (chain_id, block_number) where not is_final;

-- Sending --------------------------------------------------------------------

create table wallet_nonces (
  chain_id bigint not null,
  wallet text not null,
  next_nonce bigint not null,
  primary key (chain_id, wallet)
);

-- One row per nonce that we used: what it is for. Attempts (replacements) share the nonce.
create table sent_transactions (
  transaction_id bigint generated always as identity primary key,
  chain_id bigint not null,
  wallet text not null,
  nonce bigint not null,
  purpose text not null check (purpose in ('settle', 'payout', 'refund', 'fill')),
  recipient text not null,
  call_data text not null,
  gas_limit bigint not null,
  -- pending: not final yet. succeeded and failed: final by the chain's policy. superseded: a foreign transaction
  -- took the nonce for good.
  status text not null check (status in ('pending', 'succeeded', 'failed', 'superseded')),
  -- The attempt seen in a block, while it is there.
  mined_hash text not null default '',
  mined_block bigint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (chain_id, wallet, nonce)
);
create index sent_transactions_pending on sent_transactions (chain_id, wallet, nonce) where status = 'pending';

create table sent_attempts (
  tx_hash text primary key,
  transaction_id bigint not null references sent_transactions,
  raw text not null,
  max_fee numeric(78, 0) not null,
  priority_fee numeric(78, 0) not null,
  created_at timestamptz not null
);
create index sent_attempts_by_transaction on sent_attempts (transaction_id);

-- Settlement -----------------------------------------------------------------

-- One row per paid order and leg. settle: release from the gateway (to the merchant, or into the vault for a
-- payout). payout: the vault of the target chain pays the merchant.
create table settlements (
  order_id text not null references orders,
  leg text not null check (leg in ('settle', 'payout', 'refund')),
  session_id text not null references sessions,
  chain_id bigint not null,
  -- waiting: to be sent. sent: in a stored transaction. done: final on chain. skipped rows wait for retry_at.
  status text not null check (status in ('waiting', 'sent', 'done')),
  transaction_id bigint references sent_transactions,
  attempts int not null default 0,
  retry_at timestamptz not null,
  reason text not null default '',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (order_id, leg)
);
create index settlements_waiting on settlements (chain_id, retry_at) where status = 'waiting';
create index settlements_by_transaction on settlements (transaction_id) where status = 'sent';

-- Ledger ---------------------------------------------------------------------

create table ledger_entries (
  entry_id bigint generated always as identity primary key,
  -- What it books, once: kind and the on-chain fact, such as payment:<orderId>.
  entry_key text not null unique,
  kind text not null,
  order_id text not null,
  chain_id bigint not null,
  tx_hash text not null,
  created_at timestamptz not null
);

create table ledger_postings (
  entry_id bigint not null references ledger_entries,
  position int not null,
  ledger_account text not null,
  -- A tokenId; amounts in its smallest units. Debits are positive, credits negative.
  asset text not null,
  amount numeric(78, 0) not null check (amount <> 0),
  primary key (entry_id, position)
);
create index ledger_postings_by_account on ledger_postings (ledger_account, asset);

create function ledger_zero_sum() returns trigger language plpgsql as $$
begin
  if exists (
    select from ledger_postings where entry_id = new.entry_id group by asset having sum(amount) <> 0
  ) then
    raise exception 'ledger entry % does not sum to zero', new.entry_id using errcode = 'check_violation';
  end if;
  return null;
end $$;

-- Deferred, because an entry balances only when all its postings stand.
create constraint trigger ledger_postings_zero_sum after insert on ledger_postings
  deferrable initially deferred for each row execute function ledger_zero_sum();

create function ledger_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'the ledger is append-only' using errcode = 'insufficient_privilege';
end $$;

create trigger ledger_entries_append_only before update or delete or truncate on ledger_entries
  for each statement execute function ledger_append_only();
create trigger ledger_postings_append_only before update or delete or truncate on ledger_postings
  for each statement execute function ledger_append_only();

-- Webhooks -------------------------------------------------------------------

create table webhooks (
  webhook_id text primary key,
  merchant_id text not null references merchants,
  webhook_name text not null,
  webhook_description text not null,
  webhook_url text not null,
  status text not null check (status in ('active', 'inactive', 'paused', 'removed')),
  subscribed_events text[] not null,
  -- AES-256-GCM under the master key: key id, nonce, ciphertext and tag.
  sealed_key bytea not null,
  consecutive_failures int not null default 0,
  first_failure_at timestamptz,
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhooks_by_merchant on webhooks (merchant_id, ordinal desc) where status <> 'removed';

-- The outbox: written in the transaction of the business change.
create table events (
  event_id text primary key,
  merchant_id text not null references merchants,
  event_type text not null,
  -- The session, product, link ... that the event is about, and its place in that object's history, from 1.
  object_id text not null,
  sequence bigint not null,
  -- The exact bytes to send.
  body text not null,
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  unique (object_id, sequence)
);
create index events_by_merchant on events (merchant_id, ordinal desc);

create table deliveries (
  delivery_id text primary key,
  event_id text not null references events,
  webhook_id text not null references webhooks,
  merchant_id text not null references merchants,
  object_id text not null,
  sequence bigint not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'skipped')),
  attempt_count int not null default 0,
  next_attempt_at timestamptz,
  -- Claimed by a worker until this time; a crashed worker's claims run out.
  claimed_until timestamptz,
  ordinal bigint generated always as identity,
  created_at timestamptz not null
);
-- Due work, and the head of each object's line.
create index deliveries_due on deliveries (next_attempt_at) where status = 'pending';
create index deliveries_line on deliveries (webhook_id, object_id, sequence) where status = 'pending';
create index deliveries_by_webhook on deliveries (webhook_id, ordinal desc);

create table delivery_attempts (
  delivery_id text not null references deliveries,
  attempt int not null,
  attempted_at timestamptz not null,
  http_status int,
  latency_ms int not null,
  error text not null,
  response_body text not null,
  primary key (delivery_id, attempt)
);
