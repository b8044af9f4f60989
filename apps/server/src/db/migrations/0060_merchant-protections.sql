-- Restrictions of API keys. Empty lists and null amounts restrict nothing.
alter table api_keys add column ip_allow_list text[] not null default '{}';
alter table api_keys add column origins text[] not null default '{}';
-- Micro-USD that one session, and all sessions of one UTC day, may come to.
alter table api_keys add column max_session_amount bigint check (max_session_amount > 0);
alter table api_keys add column max_day_amount bigint check (max_day_amount > 0);
-- At most a minute behind.
alter table api_keys add column last_used_at timestamptz;

-- What the sessions of a key with a daily limit came to on the last day on which it made any. One row for each key,
-- begun anew each day, so that nothing has to be cleared away.
create table api_key_spending (
  key_id text primary key references api_keys,
  day_start timestamptz not null,
  amount bigint not null check (amount >= 0)
);

-- Answers to merchants' requests that carried an Idempotency-Key. A row is written in the transaction or statement of
-- the change that it answers, with its answer: there is no unfinished state that a crash could leave behind. No foreign
-- key to merchants: the row goes after 30 days, and every session would pay for the check twice.
create table idempotency_keys (
  merchant_id text not null,
  path text not null,
  idempotency_key text not null,
  -- SHA-256 of the body as canonical JSON.
  body_hash bytea not null,
  api_key_id text not null,
  -- The Request-Id of the request that was carried out.
  request_id text not null,
  -- Sealed like webhook keys: some answers hold signing keys and secrets of hosted pages.
  sealed_answer bytea not null,
  created_at timestamptz not null,
  primary key (merchant_id, path, idempotency_key)
);
-- For housekeeping alone. Rows arrive in the order of time, and a b-tree would be written with every session.
create index idempotency_keys_by_age on idempotency_keys using brin (created_at);
