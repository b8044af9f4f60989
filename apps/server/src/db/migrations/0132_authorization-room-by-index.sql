-- A function keeps the plan of its first calls. Made while the table was nearly empty, that would read all of it, and go on
-- doing so until statistics are gathered anew: at a thousand sessions a second that is long.
alter function authorization_room(text, bigint, timestamptz) set enable_seqscan = off;
