-- The address of each balance's token, in lower case. Its books keep the token's name while the token is not configured
-- (docs/decisions/0075).
-- The next check of a chain fills it in for the tokens that are configured.
alter table reconciled_balances add column token text not null default '';
