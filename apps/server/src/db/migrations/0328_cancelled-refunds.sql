-- A merchant cancels a refund that waits for a wallet. The time stays when the money goes back all the same.
alter table refunds drop constraint refunds_status_check;
alter table refunds add constraint refunds_status_check
  check (status in ('requires_signature', 'pending', 'completed', 'failed', 'cancelled'));
alter table refunds add column cancelled_at timestamptz;
-- A final return looks for the refund that it pays, among the cancelled ones too.
create index refunds_cancelled on refunds (order_id, ordinal) where status = 'cancelled';

-- Of a second payment that was settled to the merchant: its exception. Empty for the payment that paid the session.
alter table refunds add column exception_id text not null default '';
