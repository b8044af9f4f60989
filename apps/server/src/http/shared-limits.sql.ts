import { statement } from '@florin/pg';

// Each caller is one row, whose time tells all: when its bucket will be full again if no more requests come. What was taken
// moves it ahead. What came over the last `spanMicros` is counted from their beginning, not at once.
// In one order, so that two processes that count the same callers cannot deadlock. The database's clock is the only one.
export const countRequests = statement({
  name: 'rate_count',
  parameters: { buckets: 'bytea[]', costsMicros: 'int8[]', spanMicros: 'int8' },
  columns: { bucket: 'bytea', ahead_micros: 'int8' },
  text: `insert into rate_buckets as b (bucket, full_at)
   select bucket, now() + (cost - :spanMicros::int8) * interval '1 microsecond'
   from unnest(:buckets::bytea[], :costsMicros::int8[]) as given (bucket, cost) order by bucket
   on conflict (bucket) do update
   set full_at = greatest(b.full_at, now() - :spanMicros::int8 * interval '1 microsecond') + (excluded.full_at - now())
     + :spanMicros::int8 * interval '1 microsecond'
   returning bucket, (extract(epoch from full_at - now()) * 1000000)::int8 as ahead_micros`,
});

// One attempt, if the caller's bucket has a token. PostgreSQL locks the row, so that concurrent attempts count one by one.
// An attempt that is refused changes nothing. One that another made impossible meanwhile may find no row.
export const takeExactly = statement({
  name: 'rate_take',
  parameters: { bucket: 'bytea', costMicros: 'int8', burstMicros: 'int8' },
  columns: { is_allowed: 'bool', ahead_micros: 'int8' },
  text: `with taken as (
     insert into rate_buckets as b (bucket, full_at)
     values (:bucket, now() + :costMicros::int8 * interval '1 microsecond')
     on conflict (bucket) do update
     set full_at = greatest(b.full_at, now()) + :costMicros::int8 * interval '1 microsecond'
     where greatest(b.full_at, now()) + :costMicros::int8 * interval '1 microsecond'
       <= now() + :burstMicros::int8 * interval '1 microsecond'
     returning full_at
   )
   select true as is_allowed, (extract(epoch from full_at - now()) * 1000000)::int8 as ahead_micros from taken
   union all
   select false, (extract(epoch from full_at - now()) * 1000000)::int8 from rate_buckets
   where bucket = :bucket and not exists (select from taken)`,
});

// A full bucket is as good as none. Without an index: the table is small, and each count would change it.
// Rows in use are left for a later round, so that this waits for none.
export const deleteFullBuckets = statement({
  name: 'rate_delete_full',
  parameters: { limit: 'int8' },
  text: `delete from rate_buckets where bucket in (
     select bucket from rate_buckets where full_at < now() - interval '10 seconds' limit :limit for update skip locked)`,
});
