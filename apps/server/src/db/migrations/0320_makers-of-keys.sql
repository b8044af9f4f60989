-- A removed member's keys keep working, so the removal names them.
alter table api_keys add column created_by text not null default '';
update api_keys set created_by = actor_id from audit_entries
where action = 'createApiKey' and subject = key_id and actor_kind = 'member';
