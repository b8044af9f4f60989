-- One process follows a chain at a time: the leader. Its term goes up with every change of leader, and every move of the
-- cursor names the term that it was made under, so that a leader that was paused and wakes late changes nothing. The beat
-- goes up while the leader lives; others watch it by their own clocks, which need not agree.
alter table chain_cursors add column leader_id text not null default '';
alter table chain_cursors add column leader_term bigint not null default 0;
alter table chain_cursors add column leader_beat bigint not null default 0;
-- An operator has looked at a halted chain: begin again from the last block that the chain still has.
alter table chain_cursors add column is_resync_due boolean not null default false;
-- The next final block to be read a second time, for events that are missing here; null: none.
alter table chain_cursors add column backfill_next bigint;

-- Final events that a reorganisation below finality took away, and whether they came back.
create table dropped_events (
  chain_id bigint not null,
  block_number bigint not null,
  block_hash text not null,
  log_index int not null,
  tx_hash text not null,
  block_time timestamptz not null,
  contract text not null,
  event_name text not null,
  order_id text not null,
  arguments jsonb not null,
  dropped_at timestamptz not null,
  -- When the same event was final again, in whatever block.
  returned_at timestamptz,
  primary key (chain_id, block_hash, log_index)
);
-- Asked for every leg that is about to be sent, and for every event that becomes final.
create index dropped_events_missing on dropped_events (order_id) where returned_at is null;
