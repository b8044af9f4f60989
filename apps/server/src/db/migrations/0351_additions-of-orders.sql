-- What the operator added to the short deposit that pays an order, in units of its token: its payer paid that much less than
-- the total. An addition whose transaction fails added nothing. A trigger, so that processes of the last release note it too.
alter table orders add column added numeric not null default 0;

create function note_addition() returns trigger language plpgsql as $$
begin
  update orders set added = case new.status when 'failed' then 0 else new.amount end where order_id = new.order_id;
  return null;
end $$;

create trigger deposit_moves_added after insert or update of status, amount on deposit_moves for each row
  when (new.move = 'add') execute function note_addition();
