-- The history that this database was last seen on. PostgreSQL begins another timeline when a standby takes over and when a
-- backup is restored; a copy of the files keeps its timeline, and has a smaller beat than a process remembers.
create table database_timeline (
  is_only boolean primary key default true check (is_only),
  system_identifier text not null,
  timeline text not null,
  beat bigint not null,
  seen_at timestamptz not null
);
