-- Every answer is stored with its key. Until now the answer of a session's creation was read out of the text of its
-- session.created event. A migration cannot seal, so those answers move here as text; they go after 30 days like all others.
alter table idempotency_keys add column open_answer text;
update idempotency_keys set open_answer = '{"code":0,"message":"success","data":'
  || substr(body, strpos(body, ',"sequence":1,"data":{"session":') + 32, length(body) - strpos(body, ',"sequence":1,"data":{"session":') - 33)
  || '}'
  from events where event_id = answer_event_id;
delete from idempotency_keys where sealed_answer is null and open_answer is null;
alter table idempotency_keys drop column answer_event_id;
alter table idempotency_keys add constraint idempotency_keys_answer
  check ((sealed_answer is null) <> (open_answer is null));
