-- What a secret key is answered when it creates a session is, word for word, what the session's session.created event
-- holds. Such an answer is not stored a second time: its row names the event, which is kept three times as long (90 days
-- against 30), is never changed, and lies within the same transaction. All other answers are sealed as before.
alter table idempotency_keys add column answer_event_id text;
alter table idempotency_keys alter column sealed_answer drop not null;
alter table idempotency_keys add constraint idempotency_keys_answer
  check ((sealed_answer is null) <> (answer_event_id is null));
