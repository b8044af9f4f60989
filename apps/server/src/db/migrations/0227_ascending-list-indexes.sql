-- Rows arrive in ascending order. An index in descending order splits its first page in halves for ever: it is nearly twice as
-- large, and a new session with its event takes PostgreSQL 4 µs of 54 more. Lists read it backwards as fast.
drop index sessions_by_merchant, sessions_by_status, events_readable_by_merchant, events_by_type;
create index sessions_by_merchant on sessions (merchant_id, ordinal);
create index sessions_by_status on sessions (merchant_id, status, ordinal);
create index events_readable_by_merchant on events (merchant_id, ordinal) where body <> '';
create index events_by_type on events (merchant_id, event_type, ordinal) where body <> '';
