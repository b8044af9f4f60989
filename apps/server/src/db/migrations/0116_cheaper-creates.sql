-- Most statements that write events have nobody to tell: of no rows nothing is to be counted, and to find that out by the
-- insert below cost more than both other counts of a new session (docs/decisions/0032).
create or replace function note_delivery_changes() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if not exists (select from added) then
      return null;
    end if;
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

-- The quota of a payer's open sessions is about sessions that are meant for a payer. All others stood in its index, too.
drop index sessions_open_by_payer;
create index sessions_open_by_payer on sessions (intended_payer, expiration_time)
  where status = 'initialized' and intended_payer <> '';
