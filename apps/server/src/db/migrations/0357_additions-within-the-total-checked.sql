alter table orders validate constraint orders_added_check;
