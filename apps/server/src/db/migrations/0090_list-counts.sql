-- Exact totals and fast pages of long lists (docs/decisions/0009). A list is one merchant's rows of a table, or those of
-- them with one facet: sessions by status, events by type, deliveries by webhook. Whoever writes such rows appends here
-- what that changes, per statement; nobody waits for a counter. A worker adds the changes up in list_counts. What a list
-- holds is always its counts and its changes together, in whichever of the two they stand.

-- Buckets are 256 ordinals wide.
create table list_changes (
  merchant_id text not null,
  list text not null,
  facet text not null,
  bucket bigint not null,
  change int not null
);
-- A list adds up its own changes. The worker takes them in this order: lowest buckets first, so that segments fill in
-- turn.
create index list_changes_by_list on list_changes (merchant_id, list, bucket);
-- A queue: rows live for a second, and what is dead must not pile up.
alter table list_changes set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);

-- Rows of a list from bucket `start` up to the next start of the same list, facet and level. Segments hold some 2^8 rows
-- at level 0, some 2^14 at level 1 and some 2^20 at level 2, and each of a level starts where one of the level below
-- does: a search reads some hundred of them at most. The facet '*' is all rows, and 'session.*' those of all facets that
-- begin so.
create table list_counts (
  merchant_id text not null,
  list text not null,
  facet text not null,
  level smallint not null check (level between 0 and 2),
  start bigint not null,
  -- Below zero for a moment when a row's end was added before its beginning.
  row_count int not null,
  -- The last bucket that anything was added for: a new segment may begin behind it.
  last_bucket bigint not null,
  primary key (merchant_id, list, facet, level, start)
) with (fillfactor = 80);

-- Triggers run as who writes: in a merchant's scope they append that merchant's changes, which its policies allow.

create function note_session_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, 'sessions', status, ordinal >> 8, count(*) from added
    group by merchant_id, status, ordinal >> 8;
  elsif tg_op = 'DELETE' then
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, 'sessions', status, ordinal >> 8, -count(*) from gone
    group by merchant_id, status, ordinal >> 8;
  else
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, 'sessions', status, ordinal >> 8, sum(change) from (
      select merchant_id, status, ordinal, 1 as change from added
      union all select merchant_id, status, ordinal, -1 from gone
    ) as moved
    group by merchant_id, status, ordinal >> 8 having sum(change) <> 0;
  end if;
  return null;
end $$;
create trigger sessions_counted_insert after insert on sessions referencing new table as added
  for each statement execute function note_session_changes();
create trigger sessions_counted_update after update on sessions referencing old table as gone new table as added
  for each statement execute function note_session_changes();
create trigger sessions_counted_delete after delete on sessions referencing old table as gone
  for each statement execute function note_session_changes();

-- An event whose body housekeeping has taken away is no longer in the list.
create function note_event_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, 'events', event_type, ordinal >> 8, count(*) from added where body <> ''
    group by merchant_id, event_type, ordinal >> 8;
  elsif tg_op = 'DELETE' then
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, 'events', event_type, ordinal >> 8, -count(*) from gone where body <> ''
    group by merchant_id, event_type, ordinal >> 8;
  else
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, 'events', event_type, ordinal >> 8, sum(change) from (
      select merchant_id, event_type, ordinal, 1 as change from added where body <> ''
      union all select merchant_id, event_type, ordinal, -1 from gone where body <> ''
    ) as moved
    group by merchant_id, event_type, ordinal >> 8 having sum(change) <> 0;
  end if;
  return null;
end $$;
create trigger events_counted_insert after insert on events referencing new table as added
  for each statement execute function note_event_changes();
create trigger events_counted_update after update on events referencing old table as gone new table as added
  for each statement execute function note_event_changes();
create trigger events_counted_delete after delete on events referencing old table as gone
  for each statement execute function note_event_changes();

-- A delivery never moves to another webhook, nor a refund to another merchant: their updates change no list.
create function note_delivery_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, 'deliveries', webhook_id, ordinal >> 8, count(*) from added
    group by merchant_id, webhook_id, ordinal >> 8;
  else
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, 'deliveries', webhook_id, ordinal >> 8, -count(*) from gone
    group by merchant_id, webhook_id, ordinal >> 8;
  end if;
  return null;
end $$;
create trigger deliveries_counted_insert after insert on deliveries referencing new table as added
  for each statement execute function note_delivery_changes();
create trigger deliveries_counted_delete after delete on deliveries referencing old table as gone
  for each statement execute function note_delivery_changes();

create function note_refund_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, 'refunds', '*', ordinal >> 8, count(*) from added group by merchant_id, ordinal >> 8;
  else
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, 'refunds', '*', ordinal >> 8, -count(*) from gone group by merchant_id, ordinal >> 8;
  end if;
  return null;
end $$;
create trigger refunds_counted_insert after insert on refunds referencing new table as added
  for each statement execute function note_refund_changes();
create trigger refunds_counted_delete after delete on refunds referencing old table as gone
  for each statement execute function note_refund_changes();

-- Products that are removed and links that are deleted leave their lists.
create function note_offer_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, tg_table_name, '*', ordinal >> 8, count(*) from added
    where status not in ('removed', 'deleted') group by merchant_id, ordinal >> 8;
  elsif tg_op = 'DELETE' then
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, tg_table_name, '*', ordinal >> 8, -count(*) from gone
    where status not in ('removed', 'deleted') group by merchant_id, ordinal >> 8;
  else
    insert into list_changes (merchant_id, list, facet, bucket, change)
    select merchant_id, tg_table_name, '*', ordinal >> 8, sum(change) from (
      select merchant_id, ordinal, 1 as change from added where status not in ('removed', 'deleted')
      union all select merchant_id, ordinal, -1 from gone where status not in ('removed', 'deleted')
    ) as moved
    group by merchant_id, ordinal >> 8 having sum(change) <> 0;
  end if;
  return null;
end $$;
create trigger products_counted_insert after insert on products referencing new table as added
  for each statement execute function note_offer_changes();
create trigger products_counted_update after update on products referencing old table as gone new table as added
  for each statement execute function note_offer_changes();
create trigger products_counted_delete after delete on products referencing old table as gone
  for each statement execute function note_offer_changes();
create trigger links_counted_insert after insert on links referencing new table as added
  for each statement execute function note_offer_changes();
create trigger links_counted_update after update on links referencing old table as gone new table as added
  for each statement execute function note_offer_changes();
create trigger links_counted_delete after delete on links referencing old table as gone
  for each statement execute function note_offer_changes();

-- Pages of one type, or of a few.
create index events_by_type on events (merchant_id, event_type, ordinal desc) where body <> '';

-- What is there already. The triggers' locks keep writers out until this migration commits.
insert into list_changes (merchant_id, list, facet, bucket, change)
select merchant_id, 'sessions', status, ordinal >> 8, count(*) from sessions
group by merchant_id, status, ordinal >> 8
union all
select merchant_id, 'events', event_type, ordinal >> 8, count(*) from events where body <> ''
group by merchant_id, event_type, ordinal >> 8
union all
select merchant_id, 'deliveries', webhook_id, ordinal >> 8, count(*) from deliveries
group by merchant_id, webhook_id, ordinal >> 8
union all
select merchant_id, 'refunds', '*', ordinal >> 8, count(*) from refunds group by merchant_id, ordinal >> 8
union all
select merchant_id, 'products', '*', ordinal >> 8, count(*) from products where status <> 'removed'
group by merchant_id, ordinal >> 8
union all
select merchant_id, 'links', '*', ordinal >> 8, count(*) from links where status <> 'deleted'
group by merchant_id, ordinal >> 8;

-- How many rows a list has, and where in it, newest first, the row behind the first `skip` ones is: the row behind the
-- first `rest` ones of those whose ordinals lie below `below`. `hidden` holds the ordinals of rows that are counted and
-- not to be shown. Stable: it sees what the statement around it sees, so that total and page agree.
create function list_place(
  of_merchant text, of_list text, of_facet text, skip bigint, hidden bigint[],
  out total bigint, out below bigint, out rest bigint
) language plpgsql stable as $$
declare
  is_pattern boolean := right(of_facet, 1) = '*';
  prefix text := rtrim(of_facet, '*');
  buckets bigint[];
  amounts int[];
  bottom bigint := 0;
  found_start bigint;
  found_newer bigint;
begin
  -- What the counts do not hold yet.
  select array_agg(bucket), array_agg(amount), coalesce(sum(amount), 0) into buckets, amounts, total from (
    select bucket, sum(change)::int as amount from (
      select bucket, change from list_changes
      where merchant_id = of_merchant and list = of_list
        and (facet = of_facet or is_pattern and starts_with(facet, prefix))
      union all select ordinal >> 8, -1 from unnest(hidden) as ordinal
    ) as pending group by bucket
  ) as summed;
  total := total + coalesce((
    select sum(row_count) from list_counts
    where merchant_id = of_merchant and list = of_list and facet = of_facet and level = 2
  ), 0);
  below := 1::bigint << 52;
  rest := skip;
  if skip >= total then
    below := 0;
    rest := 0;
    return;
  end if;
  -- As many are read in any segment: no need to look for one.
  if skip < 256 then
    below := below << 8;
    return;
  end if;
  -- From level to level: the oldest segment that is skipped with all that is newer, in what the level above left.
  for of_level in reverse 2 .. 0 loop
    select start, newer into found_start, found_newer from (
      select start, is_start, sum(amount) over (order by start desc, is_start) as newer from (
        select start, row_count as amount, true as is_start from list_counts
        where merchant_id = of_merchant and list = of_list and facet = of_facet and level = of_level
          and start >= bottom and start < below
        union all select bucket, amount, false from unnest(buckets, amounts) as pending (bucket, amount)
        where bucket >= bottom and bucket < below
      ) as piece
    ) as coverage where is_start and newer <= rest order by start limit 1;
    if found then
      below := found_start;
      rest := rest - found_newer;
    end if;
    bottom := coalesce((
      select start from list_counts
      where merchant_id = of_merchant and list = of_list and facet = of_facet and level = of_level and start < below
      order by start desc limit 1
    ), 0);
  end loop;
  below := below << 8;
end $$;

-- How many rows of a list lie from the ordinal `above` on, which is the lowest beyond `of_ordinal` that this is known of.
create function list_rows_above(
  of_merchant text, of_list text, of_facet text, of_ordinal bigint, hidden bigint[],
  out row_total bigint, out above bigint
) language plpgsql stable as $$
declare
  is_pattern boolean := right(of_facet, 1) = '*';
  prefix text := rtrim(of_facet, '*');
  found_start bigint;
  found_rows bigint;
begin
  row_total := 0;
  above := 1::bigint << 52;
  for of_level in reverse 2 .. 0 loop
    select min(start), coalesce(sum(row_count), 0) into found_start, found_rows from list_counts
    where merchant_id = of_merchant and list = of_list and facet = of_facet and level = of_level
      and start > of_ordinal >> 8 and start < above;
    above := coalesce(found_start, above);
    row_total := row_total + found_rows;
  end loop;
  row_total := row_total + coalesce((
    select sum(change) from list_changes
    where merchant_id = of_merchant and list = of_list and bucket >= above
      and (facet = of_facet or is_pattern and starts_with(facet, prefix))
  ), 0) - (select count(*) from unnest(hidden) as ordinal where ordinal >> 8 >= above);
  above := above << 8;
end $$;

-- The ordinals of a merchant's events up to a time, which is the end of their life: they are no longer shown, but the
-- table and its counts have them until housekeeping comes by. Always by age: of the merchant's events they are a few
-- among very many.
create function list_old_events(of_merchant text, of_facet text, until timestamptz) returns bigint[]
language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off as $$
begin
  return array(
    select ordinal from (
      select merchant_id, event_type, ordinal from events where created_at <= until and body <> ''
      order by created_at offset 0
    ) as old
    where merchant_id = of_merchant
      and (event_type = of_facet or right(of_facet, 1) = '*' and starts_with(event_type, rtrim(of_facet, '*')))
  );
end $$;
