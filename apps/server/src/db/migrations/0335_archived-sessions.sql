-- Sessions that are over move to a second table, so that the rows and indexes of `sessions` that are written stay in memory.
-- The archive inherits from `sessions`: each statement on `sessions` reads and changes both. It has the same columns,
-- indexes and policies, and the row triggers that inheritance leaves out. Statement triggers of `sessions` see changes of
-- both, but not what is inserted here: that is counted again, because the move deletes it from `sessions`.

-- PostgreSQL checks foreign keys against one table alone. Nothing deletes sessions; the trigger below holds that.
do $$
declare
  reference record;
begin
  for reference in
    select conrelid::regclass as child, conname from pg_constraint where contype = 'f' and confrelid = 'sessions'::regclass
  loop
    execute format('alter table %s drop constraint %I', reference.child, reference.conname);
  end loop;
end $$;

create table sessions_archive (like sessions including defaults including constraints including indexes) inherits (sessions);

create trigger sessions_received after update on sessions_archive for each row
  when (old.payment_succeeded_at is null and new.payment_succeeded_at is not null) execute function note_received_value();
create trigger sessions_settled after update on sessions_archive for each row
  when (old.settlement_succeeded_at is null and new.settlement_succeeded_at is not null) execute function note_settled_value();
create trigger sessions_counted_insert after insert on sessions_archive referencing new table as added
  for each statement execute function note_session_changes();

create function session_stays() returns trigger language plpgsql as $$
begin
  if exists (select from gone where not exists (select from sessions_archive a where a.session_id = gone.session_id)) then
    raise exception 'a session is moved to the archive, and never deleted';
  end if;
  return null;
end $$;
create trigger sessions_stay after delete on sessions referencing old table as gone
  for each statement execute function session_stays();

-- What the archive takes next.
create index sessions_ended_unpaid on sessions (updated_at) where status in ('expired', 'cancelled');
create index sessions_ended_paid on sessions (updated_at) where status = 'completed';
