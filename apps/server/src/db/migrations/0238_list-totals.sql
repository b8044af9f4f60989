-- A list's exact total is the sum of its facets' totals and of the changes that are not added to them yet. Pages are found
-- by a cursor or by skipping index entries, so where in a list its rows lie is counted no more (docs/decisions/0009).
-- Writers wait until this commits: none of their changes is noted the old way after the old ones are taken over.
lock table sessions, events, deliveries, refunds, products, links in share row exclusive mode;

create table list_totals (
  merchant_id text not null,
  list text not null,
  facet text not null,
  -- Below zero for a moment when a row's end was added before its beginning.
  row_count bigint not null,
  primary key (merchant_id, list, facet)
) with (fillfactor = 80);

create table list_total_changes (
  merchant_id text not null,
  list text not null,
  facet text not null,
  change int not null
);
-- A list adds up its own changes.
create index list_total_changes_by_list on list_total_changes (merchant_id, list);
-- A queue: rows live for a second, and what is dead must not pile up.
alter table list_total_changes set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);

-- A segment of level 2 counts every row once. Facets that end in * were sums of the others, but for lists without facets.
insert into list_totals (merchant_id, list, facet, row_count)
select merchant_id, list, facet, sum(amount) from (
  select merchant_id, list, facet, row_count as amount from list_counts
  where level = 2 and (right(facet, 1) <> '*' or list in ('refunds', 'products', 'links'))
  union all select merchant_id, list, facet, change from list_changes
) as known
group by merchant_id, list, facet;
truncate list_changes, list_counts;

create or replace function note_session_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, 'sessions', status, count(*) from added group by merchant_id, status;
  elsif tg_op = 'DELETE' then
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, 'sessions', status, -count(*) from gone group by merchant_id, status;
  else
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, 'sessions', status, sum(change) from (
      select merchant_id, status, 1 as change from added union all select merchant_id, status, -1 from gone
    ) as moved
    group by merchant_id, status having sum(change) <> 0;
  end if;
  return null;
end $$;

create or replace function note_event_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, 'events', event_type, count(*) from added where body <> ''
    group by merchant_id, event_type;
  elsif tg_op = 'DELETE' then
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, 'events', event_type, -count(*) from gone where body <> ''
    group by merchant_id, event_type;
  else
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, 'events', event_type, sum(change) from (
      select merchant_id, event_type, 1 as change from added where body <> ''
      union all select merchant_id, event_type, -1 from gone where body <> ''
    ) as moved
    group by merchant_id, event_type having sum(change) <> 0;
  end if;
  return null;
end $$;

-- Most statements that write events have no webhook to tell: counting no rows cost more than both other counts.
create or replace function note_delivery_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if not exists (select from added) then
      return null;
    end if;
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, 'deliveries', webhook_id, count(*) from added group by merchant_id, webhook_id;
  else
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, 'deliveries', webhook_id, -count(*) from gone group by merchant_id, webhook_id;
  end if;
  return null;
end $$;

create or replace function note_refund_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, 'refunds', '*', count(*) from added group by merchant_id;
  else
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, 'refunds', '*', -count(*) from gone group by merchant_id;
  end if;
  return null;
end $$;

create or replace function note_offer_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, tg_table_name, '*', count(*) from added
    where status not in ('removed', 'deleted') group by merchant_id;
  elsif tg_op = 'DELETE' then
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, tg_table_name, '*', -count(*) from gone
    where status not in ('removed', 'deleted') group by merchant_id;
  else
    insert into list_total_changes (merchant_id, list, facet, change)
    select merchant_id, tg_table_name, '*', sum(change) from (
      select merchant_id, 1 as change from added where status not in ('removed', 'deleted')
      union all select merchant_id, -1 from gone where status not in ('removed', 'deleted')
    ) as moved
    group by merchant_id having sum(change) <> 0;
  end if;
  return null;
end $$;

-- How many rows a list has, of one facet or of all that a pattern such as 'session.*' takes. Stable: it sees what the
-- statement around it sees, so that total and page agree.
create function list_total(of_merchant text, of_list text, of_facet text) returns bigint language sql stable as $$
  select coalesce(sum(amount), 0)::bigint from (
    select facet, row_count as amount from list_totals where merchant_id = of_merchant and list = of_list
    union all
    select facet, change from list_total_changes where merchant_id = of_merchant and list = of_list
  ) as known
  where facet = of_facet or right(of_facet, 1) = '*' and starts_with(facet, rtrim(of_facet, '*'))
$$;

-- What the program before this migration asks, in terms of the totals. These two functions and the two empty tables go with
-- a later migration.
create or replace function list_place(
  of_merchant text, of_list text, of_facet text, skip bigint, hidden bigint[],
  out total bigint, out below bigint, out rest bigint
) language sql stable as $$
  select list_total(of_merchant, of_list, of_facet) - cardinality(hidden), 1::bigint << 60, skip
$$;
create or replace function list_rows_above(
  of_merchant text, of_list text, of_facet text, of_ordinal bigint, hidden bigint[],
  out row_total bigint, out above bigint
) language sql stable as $$
  select 0::bigint, 1::bigint << 60
$$;
