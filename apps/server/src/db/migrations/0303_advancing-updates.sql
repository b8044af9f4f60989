-- A change may name the `updateAt` that it was based on, and the wire has whole seconds. So each change of such a row takes a
-- later second than the change before, whatever the clock says.

create function advance_updated_at() returns trigger language plpgsql as $$
begin
  new.updated_at := greatest(new.updated_at, date_trunc('second', old.updated_at) + interval '1 second');
  return new;
end $$;
create trigger products_advance before update of updated_at on products for each row execute function advance_updated_at();
create trigger links_advance before update of updated_at on links for each row execute function advance_updated_at();
create trigger accounts_advance before update of updated_at on accounts for each row execute function advance_updated_at();
create trigger branding_advance before update of updated_at on branding for each row execute function advance_updated_at();
