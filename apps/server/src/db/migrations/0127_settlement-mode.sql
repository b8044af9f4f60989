-- How payments in the settlement token itself reach the account's wallet. Empty: as the configuration says.
alter table accounts add column settlement_mode text not null default ''
  check (settlement_mode in ('', 'escrow', 'direct'));
