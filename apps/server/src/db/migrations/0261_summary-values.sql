-- What each payment adds to the sums of its time (docs/decisions/0140). A new session writes nothing here.
create table summary_values (
  merchant_id text not null,
  at timestamptz not null,
  -- received: the payment is final on the chain. settled: the money is in the wallet.
  kind text not null check (kind in ('received', 'settled')),
  session_id text not null,
  token_id text not null,
  total_value bigint not null,
  fee_value bigint not null,
  net_value bigint not null,
  -- The sums read the index alone.
  primary key (merchant_id, at, kind, session_id) include (token_id, total_value, fee_value, net_value)
);
alter table summary_values set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

create function note_received_value() returns trigger language plpgsql as $$
begin
  insert into summary_values
  select new.merchant_id, new.payment_succeeded_at, 'received', new.session_id, new.paid_token,
    total_value, fee_value, net_value from orders where order_id = new.order_id
  on conflict do nothing;
  return null;
end $$;
create function note_settled_value() returns trigger language plpgsql as $$
begin
  insert into summary_values
  select new.merchant_id, new.settlement_succeeded_at, 'settled', new.session_id, new.settlement_token,
    total_value, fee_value, net_value from orders where order_id = new.order_id
  on conflict do nothing;
  return null;
end $$;
-- A session sets each of these times once, in the transaction that makes it paid or completed.
create trigger sessions_received after update on sessions for each row
  when (old.payment_succeeded_at is null and new.payment_succeeded_at is not null)
  execute function note_received_value();
create trigger sessions_settled after update on sessions for each row
  when (old.settlement_succeeded_at is null and new.settlement_succeeded_at is not null)
  execute function note_settled_value();
