-- The session.created event holds, for 90 days, the session that the answer to its creation shows. The key's row no longer
-- stores the same text again: it names the event, and where in its body the session begins (docs/decisions/0086).
alter table idempotency_keys add column answer_event_id text, add column answer_start int;
alter table idempotency_keys drop constraint idempotency_keys_answer, add constraint idempotency_keys_answer
  check (num_nonnulls(sealed_answer, open_answer, answer_event_id) = 1);
