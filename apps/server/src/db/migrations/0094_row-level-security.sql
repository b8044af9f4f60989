-- The second wall between merchants. A connection says in whose name it works by the setting florin.merchant: a
-- merchant's id, or * for the system itself. Without it no policy shows or takes a row (docs/decisions/0011).
-- The setting is read in a subquery, so once for each statement and not for each row. The case, unlike an or, is taken
-- by the planner for one half of the rows, whatever it asks: an or counted as next to none, and led to other plans.

-- Forced, because the service's role owns the tables, and owners pass by policies otherwise.
create function protect_table(protected_table regclass, policy_name text, rule text) returns void
language plpgsql as $$
begin
  execute format('alter table %s enable row level security', protected_table);
  execute format('alter table %s force row level security', protected_table);
  execute format('create policy %I on %s using (%s)', policy_name, protected_table, rule);
end $$;

-- Run after every migration: a table that has no policy yet belongs to the merchants that its column merchant_id names,
-- or, without such a column, to the system alone. A later migration that wants more calls protect_table itself.
create function protect_tables() returns void
language plpgsql as $$
declare
  scope constant text := $rule$(select current_setting('florin.merchant', true))$rule$;
  unprotected record;
begin
  for unprotected in
    select c.oid::regclass as name, exists (
      select from pg_attribute a
      where a.attrelid = c.oid and a.attname = 'merchant_id' and not a.attisdropped
    ) as has_merchant
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
      and not (c.relrowsecurity and c.relforcerowsecurity)
      -- Read before anything is known of the database.
      and c.relname <> 'schema_migrations'
  loop
    if unprotected.has_merchant then
      perform protect_table(unprotected.name, 'merchant_scope',
        format('case %1$s when ''*'' then true else merchant_id = %1$s end', scope));
    else
      perform protect_table(unprotected.name, 'system_scope',
        format('case %s when ''*'' then true else false end', scope));
    end if;
  end loop;
end $$;

-- Tables that belong to a merchant through their parent, whose own policy decides. Cheaper than a column of their own:
-- the hot statements work in the system's scope, which is asked first, and a merchant reads a page of these rows at most,
-- 2 microseconds each. Not `exists`, which the planner may answer from a hash of the whole parent table.
select protect_table(child::regclass, 'merchant_scope', format(
  'case (select current_setting(''florin.merchant'', true)) when ''*'' then true
   else (select true from %s p where p.%I = %s.%I) end',
  parent, reference, child, reference))
from (values
  ('link_items', 'links', 'link_id'),
  ('orders', 'sessions', 'session_id'),
  ('settlements', 'sessions', 'session_id'),
  ('delivery_attempts', 'deliveries', 'delivery_id'),
  ('api_key_spending', 'api_keys', 'key_id')
) as owned (child, parent, reference);

select protect_tables();

-- What chains say and what was sent to them is public, and decides for a merchant's refund whether money is on its way: to
-- hide it would be to answer wrongly. Merchants see it and change nothing.
create policy readable on chain_cursors for select
  using ((select current_setting('florin.merchant', true)) <> '');
create policy readable on chain_events for select
  using ((select current_setting('florin.merchant', true)) <> '');
create policy readable on sent_transactions for select
  using ((select current_setting('florin.merchant', true)) <> '');
