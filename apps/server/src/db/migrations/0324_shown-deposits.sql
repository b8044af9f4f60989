-- The order whose deposit address the pages of a session show. A constant default changes no row, and processes of the
-- version before insert without it.
alter table sessions add column shown_order_id text not null default '';
