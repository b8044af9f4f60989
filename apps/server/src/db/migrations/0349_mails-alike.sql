-- Outside a transaction.
-- The e-mails of one kind to a person about a merchant, which are gathered into one when many come.
create index concurrently mails_alike on mails (merchant_id, recipient, kind, created_at) where payer = '';
