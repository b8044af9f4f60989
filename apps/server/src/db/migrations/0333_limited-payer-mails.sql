-- The wallet whose payment an e-mail to a payer tells of; empty for other e-mails. How many e-mails it causes is limited, and
-- so is how many an address and a merchant's payers get: whoever pays names any address.
alter table mails add column payer text not null default '';

create index mails_to_payer on mails (recipient, created_at) where kind in ('receipt', 'refund') and status <> 'suppressed';
create index mails_by_payer on mails (payer, created_at) where kind in ('receipt', 'refund') and status <> 'suppressed';
create index mails_to_payers_of on mails (merchant_id, created_at) where kind in ('receipt', 'refund') and status <> 'suppressed';
