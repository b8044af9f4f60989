-- The requests that all processes together took of each limit lately, as the time when the caller may make a full burst again.
-- Unlogged: a commit of these rows alone waits for no disk and no standby. After a crash or a failover all callers begin anew.
create unlogged table rate_buckets (
  -- A digest of the limit and the caller.
  bucket bytea primary key check (octet_length(bucket) = 16),
  full_at timestamptz not null
) with (fillfactor = 50);
