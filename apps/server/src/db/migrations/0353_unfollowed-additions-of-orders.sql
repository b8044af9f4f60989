-- Whether an addition was mined that is not followed any more is not known; the payer may have sent the rest. It counts as
-- nothing, so that no refund keeps back what the payer paid.
create or replace function note_addition() returns trigger language plpgsql as $$
begin
  update orders set added = case when new.status in ('failed', 'unfollowed') then 0 else new.amount end where order_id = new.order_id;
  return null;
end $$;

update orders o set added = 0 from deposit_moves m
where m.order_id = o.order_id and m.move = 'add' and m.status = 'unfollowed';
