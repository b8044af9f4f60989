-- The names of the merchant when the payment became final, which its receipt keeps; empty before, and in sessions that were paid
-- before these columns. Both tables of sessions get them, because the archive inherits.
alter table sessions add column receipt_merchant_name text not null default '',
  add column receipt_legal_name text not null default '';
