-- The outbox's tables. Run it in your migrations. `merchant_id` is the id of an owner: whatever your application calls those
-- who register webhooks. Add foreign keys and policies of row-level security as you need them.

create table webhooks (
  webhook_id text primary key,
  merchant_id text not null,
  webhook_name text not null,
  webhook_description text not null,
  webhook_url text not null,
  status text not null check (status in ('active', 'inactive', 'paused', 'removed')),
  subscribed_events text[] not null,
  sealed_key bytea not null,
  -- Failures in a row over all deliveries; any success ends the row.
  consecutive_failures int not null default 0,
  first_failure_at timestamptz,
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- After a key refresh with an overlap the old key signs too, until this time.
  previous_sealed_key bytea,
  previous_key_until timestamptz,
  -- Its maker may not read all of an event: bodies go through `redact`.
  is_redacted boolean not null default false
);
create index webhooks_by_merchant on webhooks (merchant_id, ordinal desc) where status <> 'removed';

create table events (
  event_id text primary key,
  merchant_id text not null,
  event_type text not null,
  -- What the event is about, and its place in that object's history, from 1.
  object_id text not null,
  sequence bigint not null,
  -- The exact bytes to send. Empty in what housekeeping leaves of an object's last event: its sequence goes on.
  body text not null,
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  unique (object_id, sequence)
);
-- Bodies of a few kilobytes stay in their row.
alter table events set (toast_tuple_target = 8160);
create index events_by_age on events (created_at) where body <> '';

create table deliveries (
  delivery_id text primary key,
  event_id text not null references events,
  webhook_id text not null references webhooks,
  merchant_id text not null,
  object_id text not null,
  sequence bigint not null,
  status text not null check (status in ('pending', 'succeeded', 'failed', 'skipped')),
  attempt_count int not null default 0,
  -- Null while it is paused: after an earlier event of its object, or while its webhook is not active.
  next_attempt_at timestamptz,
  -- The end of the lease, while a worker has it.
  claimed_until timestamptz,
  ordinal bigint generated always as identity,
  created_at timestamptz not null,
  -- A replayed delivery starts the schedule again; its log goes on counting.
  attempts_before_replay int not null default 0
);
-- A claim changes a row in place, and no index learns of it.
alter table deliveries set (fillfactor = 50);
-- Due deliveries of a part of the owners: workers take turns in different parts at the same time.
create index deliveries_due_of_part on deliveries ((hashtextextended(merchant_id, 0) & 7), next_attempt_at)
  where status = 'pending';
create index deliveries_line on deliveries (webhook_id, object_id, sequence) where status = 'pending';
create index deliveries_due_by_webhook on deliveries (webhook_id, next_attempt_at)
  where status = 'pending' and next_attempt_at is not null;
create index deliveries_by_webhook on deliveries (webhook_id, ordinal desc);
create index deliveries_by_event on deliveries (event_id);

create table delivery_attempts (
  delivery_id text not null,
  attempt int not null,
  attempted_at timestamptz not null,
  http_status int,
  latency_ms int not null,
  error text not null,
  -- The answer's first 4 KiB.
  response_body text not null,
  request_url text not null default '',
  primary key (delivery_id, attempt)
);

-- What enabling, replaying and removing a webhook has still to do with its deliveries.
create table delivery_sweeps (
  sweep_id bigint generated always as identity primary key,
  merchant_id text not null,
  webhook_id text not null references webhooks,
  kind text not null check (kind in ('free', 'replay', 'drop')),
  replay_since timestamptz,
  -- The last delivery of a step: by its position in the queue, or for a replay by its ordinal.
  after_object text not null,
  after_number bigint not null
);
create index delivery_sweeps_by_webhook on delivery_sweeps (webhook_id);
