-- What an address holds of its order's own token, in units of the token: in the newest block that was read, and in the
-- final block. Every view of the session shows it, and none reads the chain (docs/decisions/0074).
alter table deposit_sightings
  add column amount numeric(78, 0) not null default 0,
  add column final_amount numeric(78, 0) not null default 0;

-- A merchant reads the deposits of its own sessions, and changes none.
create policy readable on deposit_sightings for select using (
  case (select current_setting('florin.merchant', true)) when '*' then true
  else (select true from orders p where p.order_id = deposit_sightings.order_id) end);
