-- What the operator adds is a part of the order's total.
alter table orders add constraint orders_added_check check (added between 0 and total) not valid;
