-- Money that comes to a deposit address again, after an exception ended, is another exception of the same kind
-- (docs/decisions/0073).

-- The block of the event that ended it: older observations of the address are stale. Null while it has not ended.
alter table exceptions add column resolved_block bigint;

alter table exceptions drop constraint exceptions_order_id_kind_token_id_key;
-- A payment is on a chain once, so each of its exceptions exists once.
create unique index exceptions_of_payment on exceptions (order_id, kind, token_id) where tx_hash <> '';
-- At most one exception of a kind shows what an address holds now. Those whose money has left do not count.
create unique index exceptions_of_deposit on exceptions (order_id, kind, token_id) where tx_hash = '' and resolved_tx = '';
-- Events and sessions look for the exceptions of their orders.
create index exceptions_by_order on exceptions (order_id);
