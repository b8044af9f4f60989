-- Outside a transaction.
-- The refunds of a session, newest first: a list that the merchant asks for.
create index concurrently refunds_by_session on refunds (merchant_id, session_id, ordinal desc);
