-- The vault or CCTP route through which an order leaves its gateway, as a part of the order that is signed. Orders from before
-- name none.
alter table orders add column via text not null default '0x0000000000000000000000000000000000000000';
