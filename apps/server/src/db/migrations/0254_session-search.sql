-- The index behind the search for sessions (docs/decisions/0124). A worker fills it after the fact, so that a session
-- pays only for naming itself in a queue, once for each statement.

-- Sessions that were written and are not indexed since. Rows live for a second.
create table session_search_queue (
  merchant_id text not null,
  session_ids text[] not null
);
alter table session_search_queue set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);

-- All words of a session between spaces, so that a candidate is judged by one row.
create table session_search (
  merchant_id text not null,
  ordinal bigint not null,
  session_id text not null unique,
  created_at timestamptz not null,
  words text not null,
  primary key (merchant_id, ordinal)
);
-- Where in the order of creation a time lies.
create index session_search_by_time on session_search (merchant_id, created_at);

-- The sessions of each word, in their order. Bytes, so that words with the same beginning lie together.
create table session_words (
  merchant_id text not null,
  word text collate "C" not null,
  ordinal bigint not null,
  primary key (merchant_id, word, ordinal)
);

-- Sessions that existed before, and all of them after the words have changed, are indexed in the order of their ids.
create table session_search_progress (
  is_only boolean primary key default true check (is_only),
  -- Of the rules for words; 0: none yet.
  version int not null,
  -- The last session indexed; null: all of them.
  indexed_to text
);
insert into session_search_progress (version) values (0);

create function note_searched_sessions() returns trigger language plpgsql as $$
begin
  insert into session_search_queue (merchant_id, session_ids)
  select merchant_id, array_agg(session_id) from added group by merchant_id;
  return null;
end $$;
create trigger sessions_searched_insert after insert on sessions referencing new table as added
  for each statement execute function note_searched_sessions();
create trigger sessions_searched_update after update on sessions referencing new table as added
  for each statement execute function note_searched_sessions();
