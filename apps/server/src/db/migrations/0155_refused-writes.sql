-- A statement whose answer nobody waits for must itself fail where it finds not what it needs: its transaction then cannot
-- commit (docs/decisions/0044).
create function raise_error(message text) returns text language plpgsql as $$
begin
  raise exception '%', message;
end $$;
