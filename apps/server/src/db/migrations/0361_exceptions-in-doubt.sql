-- Outside a transaction.
-- The few exceptions whose addresses are read again after a reorg below finality.
create index concurrently exceptions_in_doubt on exceptions (order_id) where loss = 'possible';
