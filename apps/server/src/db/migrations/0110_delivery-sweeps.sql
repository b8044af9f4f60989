-- What enabling, replaying and removing a webhook has still to do with its deliveries. Each step does a bounded part under
-- the lock that the delivery engine needs, because a million rows in one statement would keep every receiver waiting.
create table delivery_sweeps (
  sweep_id bigint generated always as identity primary key,
  merchant_id text not null,
  webhook_id text not null references webhooks,
  -- free: what was parked goes on. replay: what was skipped or failed since a time goes again. drop: what is pending is
  -- skipped.
  kind text not null check (kind in ('free', 'replay', 'drop')),
  replay_since timestamptz,
  -- The last delivery that a step has seen: by its place in line, or for a replay by its ordinal.
  after_object text not null,
  after_number bigint not null
);
create index delivery_sweeps_by_webhook on delivery_sweeps (webhook_id);
