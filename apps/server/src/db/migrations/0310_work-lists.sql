-- The operator's lists of settlement legs and of sent transactions, newest first, for any chain and status.
create index settlements_listed on settlements (chain_id, status, created_at, order_id, leg);
create index sent_transactions_listed on sent_transactions (chain_id, status, transaction_id);
