-- How many more sessions a payer may open through the AI protocol, for a statement that is about to open some; null while
-- somebody else is at work for that payer. A function and not a subquery: what it counts, it sees as of after the lock,
-- while a statement sees the rows of its own beginning. It never waits: a statement for many payers must not stand still
-- because of one of them. The lock is the one of every authorization of the payer, held until the transaction ends.
create function authorization_room(payer_address text, most_open bigint, at timestamptz) returns bigint
language plpgsql volatile as $$
begin
  if not pg_try_advisory_xact_lock(hashtextextended('authorization ' || lower(payer_address), 0)) then
    return null;
  end if;
  if most_open is null then
    return 9223372036854775807;
  end if;
  -- In the words of the index, which leaves out sessions that are meant for nobody.
  return most_open - (
    select count(*) from sessions
    where intended_payer = payer_address and intended_payer <> '' and status = 'initialized' and expiration_time > at
  );
end $$;
