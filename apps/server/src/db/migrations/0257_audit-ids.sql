-- The ids that clients see: entry_id counts over all merchants and would tell one how much the others do. Adding the
-- column writes the entries anew without an update, which the table refuses.
alter table audit_entries add column audit_id text not null default 'aud_' || left(replace(gen_random_uuid()::text, '-', ''), 22);
alter table audit_entries alter column audit_id drop default;
-- The cursor of a page is the id of its last entry.
create unique index audit_entries_by_id on audit_entries (audit_id);
