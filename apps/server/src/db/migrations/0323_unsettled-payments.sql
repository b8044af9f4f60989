-- A payment that waits too long for its settlement, and will go back to its payer.
alter table exceptions drop constraint exceptions_kind_check;
alter table exceptions add constraint exceptions_kind_check check (kind in ('duplicate', 'duplicate_settled', 'refunded',
  'reclaimed', 'unsettled', 'underpaid', 'overpaid', 'late', 'wrong_token'));
