-- The snapshot of a session's items is written once and read whole; nothing looks into it. To parse it into jsonb was a
-- fifteenth of what PostgreSQL does for a new session (docs/decisions/0039). The service alone writes it, as JSON.
alter table sessions alter column line_items type text using line_items::text;
