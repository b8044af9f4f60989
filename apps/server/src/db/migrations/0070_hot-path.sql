-- Each foreign key on the hot insert locks the merchant's row for key share: concurrent creates of one merchant then
-- queue on that row and leave a multixact behind each time. The statement that inserts sessions joins the account (and
-- through it the merchant) itself, merchants and accounts are never deleted, and events are written with their object.
alter table sessions drop constraint sessions_merchant_id_fkey;
alter table sessions drop constraint sessions_account_id_fkey;
alter table events drop constraint events_merchant_id_fkey;

-- A hash with a 256-bit secret in it cannot repeat, the contract refuses a second payment of it in any case, and nothing
-- is looked up by it: the index cost a random page for each session.
alter table sessions drop constraint sessions_meta_data_key;

-- Rows of these tables are a little over the 2 kB beyond which PostgreSQL compresses values one by one, which costs more
-- than the insert itself. Up to a page they stay as they are.
alter table sessions set (toast_tuple_target = 8160);
alter table events set (toast_tuple_target = 8160);
alter table idempotency_keys set (toast_tuple_target = 8160);
