-- Due deliveries of a part of the merchants: workers take turns in different parts at the same time.
create index deliveries_due_of_part on deliveries ((hashtextextended(merchant_id, 0) & 7), next_attempt_at)
  where status = 'pending';
drop index deliveries_due;
