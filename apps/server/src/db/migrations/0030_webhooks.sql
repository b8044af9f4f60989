-- The delivery engine pulls each webhook's due work on its own, so that one slow receiver's backlog stands in nobody's
-- way, and steps from one webhook to the next along this index. Without parked deliveries, so that a search along an
-- object's line, which must see those, cannot be planned over it.
create index deliveries_due_by_webhook on deliveries (webhook_id, next_attempt_at)
  where status = 'pending' and next_attempt_at is not null;

-- A replayed delivery starts the schedule again; its log goes on counting. Attempts made before the last replay.
alter table deliveries add column attempts_before_replay int not null default 0;

-- After a key refresh with an overlap the old key signs too, until this time.
alter table webhooks add column previous_sealed_key bytea;
alter table webhooks add column previous_key_until timestamptz;
