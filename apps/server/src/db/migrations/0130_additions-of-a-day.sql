-- What the operator has added to short deposits within a day is summed before each addition (docs/decisions/0033).
create index deposit_moves_additions on deposit_moves (updated_at) where move = 'add';

-- A refund asks whether anything was added for its session: a merchant reads the moves of its own orders, and changes none.
drop policy readable on deposit_moves;
create policy readable on deposit_moves for select using (
  case (select current_setting('florin.merchant', true)) when '*' then true
  else (select true from orders p where p.order_id = deposit_moves.order_id) end);
