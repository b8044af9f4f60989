-- Where links send payers back to: whether a merchant uses an origin already decides who may set it. Columns of their own,
-- because a policy stands before the rows, and an expression in an index would not pass by it.
alter table links
  add column success_origin text generated always as (substring(lower(success_url) from '^https?://[^/?#\\]+')) stored,
  add column cancel_origin text generated always as (substring(lower(cancel_url) from '^https?://[^/?#\\]+')) stored;
create index links_by_success_origin on links (merchant_id, success_origin)
  where success_origin is not null and status <> 'deleted';
create index links_by_cancel_origin on links (merchant_id, cancel_origin)
  where cancel_origin is not null and status <> 'deleted';
-- What owners were told lately of where their payers are sent, and of their legal name.
create index mails_of_payer_places on mails (merchant_id, created_at) where kind in ('sendPayers', 'changeLegalName');
