import { statement } from '@florin/pg';
import { tryLock } from './advisory-lock.ts';

/** One worker adds up at a time: how many rows a segment holds decides where the next one begins. */
export const lockListCounts = statement(
  'list_counts_lock',
  [],
  { is_mine: 'bool' },
  `select ${tryLock('listCounts')} as is_mine`,
);

/** The newest segment of each list at a level. */
const lastSegment = (level: number) => `left join lateral (
       select start, row_count, last_bucket from list_counts c
       where c.merchant_id = key.merchant_id and c.list = key.list and c.facet = key.facet and level = ${level}
       order by start desc limit 1) as segment_${level} on true`;

/** The segments of a level where changes belong: new ones, the newest, or, of the older ones, the one that has them. */
const atLevel = (
  level: number,
) => `select merchant_id, list, facet, ${level}::smallint as level, bucket, change,
       coalesce(start_${level}, (
         select start from list_counts c
         where c.merchant_id = placed.merchant_id and c.list = placed.list and c.facet = placed.facet
           and level = ${level} and start <= bucket order by start desc limit 1), 0) as start
     from placed`;

/**
 * Moves up to $2 changes, of merchants from $1 on, into the counts. A change counts for its own facet, for the pattern
 * that takes it and for '*'. Where a list's last segment is full, the first bucket that nothing was added for yet begins
 * the next. Returns how many changes were taken, the last merchant, and the segments of level 0 that came to nothing.
 */
export const addListChanges = statement(
  'list_changes_add',
  ['text', 'int8'],
  {
    taken: 'int8',
    last_merchant: 'text?',
    merchant_ids: 'text[]',
    lists: 'text[]',
    facets: 'text[]',
    starts: 'int8[]',
  },
  `with taken as (
     delete from list_changes where ctid = any (array(
       select ctid from list_changes where merchant_id >= $1 order by merchant_id, list, bucket limit $2))
     returning merchant_id, list, facet, bucket, change
   ), faceted as (
     select merchant_id, list, wider.facet, bucket, sum(change)::int as change
     from taken cross join lateral (
       select taken.facet union select regexp_replace(taken.facet, '[^.]+$', '*') union select '*'
     ) as wider (facet)
     group by merchant_id, list, wider.facet, bucket having sum(change) <> 0
   ), last_segment as materialized (
     select key.merchant_id, key.list, key.facet, coalesce(segment_0.last_bucket, -1) as last_bucket,
       ${[0, 1, 2].map((level) => `coalesce(segment_${level}.start, 0) as open_${level}, greatest(segment_${level}.row_count, 0) as count_${level}`).join(', ')}
     from (select distinct merchant_id, list, facet from faceted) as key
     ${[0, 1, 2].map(lastSegment).join('\n')}
   ), numbered as (
     select faceted.*, open_0, open_1, open_2, count_0, count_1, count_2, case when bucket > last_bucket then
         coalesce(sum(greatest(change, 0)) over (
           partition by merchant_id, list, facet, bucket > last_bucket order by bucket
           rows between unbounded preceding and 1 preceding), 0) end as before
     from faceted join last_segment using (merchant_id, list, facet)
   ), at_level_0 as (
     select *, coalesce((count_0 + before) >> 8, 0) as number_0 from numbered
   ), at_level_1 as (
     select *, case when number_0 > 0 then min(bucket) over segment when bucket >= open_0 then open_0 end as start_0,
       case when number_0 > 0 then (count_1 + min(before) over segment) >> 14 else 0 end as number_1
     from at_level_0 window segment as (partition by merchant_id, list, facet, number_0)
   ), at_level_2 as (
     select *, case when number_1 > 0 then min(start_0) over segment when bucket >= open_1 then open_1 end as start_1,
       case when number_1 > 0 then (count_2 + min(before) over segment) >> 20 else 0 end as number_2
     from at_level_1 window segment as (partition by merchant_id, list, facet, number_1)
   ), placed as (
     select *, case when number_2 > 0 then min(start_1) over segment when bucket >= open_2 then open_2 end as start_2
     from at_level_2 window segment as (partition by merchant_id, list, facet, number_2)
   ), located as (
     ${[0, 1, 2].map(atLevel).join('\nunion all\n')}
   ), added as (
     insert into list_counts as c (merchant_id, list, facet, level, start, row_count, last_bucket)
     select merchant_id, list, facet, level, start, sum(change), max(bucket) from located
     group by merchant_id, list, facet, level, start
     on conflict (merchant_id, list, facet, level, start) do update
       set row_count = c.row_count + excluded.row_count, last_bucket = greatest(c.last_bucket, excluded.last_bucket)
     returning merchant_id, list, facet, level, start, row_count
   ), empty as (
     select * from added where level = 0 and row_count = 0
   )
   select (select count(*) from taken) as taken, (select max(merchant_id) from taken) as last_merchant,
     array(select merchant_id from empty order by merchant_id, list, facet, start) as merchant_ids,
     array(select list from empty order by merchant_id, list, facet, start) as lists,
     array(select facet from empty order by merchant_id, list, facet, start) as facets,
     array(select start from empty order by merchant_id, list, facet, start) as starts`,
);

// An empty segment may go, and the one before it reach as far as the next: but not the last, behind whose last bucket
// new ones begin, nor where one of the level above starts.
export const removeEmptySegments = statement(
  'list_counts_remove_empty',
  ['text[]', 'text[]', 'text[]', 'int8[]'],
  {},
  `delete from list_counts c using unnest($1::text[], $2::text[], $3::text[], $4::int8[])
     as empty (merchant_id, list, facet, start)
   where c.merchant_id = empty.merchant_id and c.list = empty.list and c.facet = empty.facet and c.level = 0
     and c.start = empty.start and c.row_count = 0
     and exists (
       select from list_counts later where later.merchant_id = c.merchant_id and later.list = c.list
         and later.facet = c.facet and later.level = 0 and later.start > c.start)
     and not exists (
       select from list_counts block where block.merchant_id = c.merchant_id and block.list = c.list
         and block.facet = c.facet and block.level = 1 and block.start = c.start)`,
);
