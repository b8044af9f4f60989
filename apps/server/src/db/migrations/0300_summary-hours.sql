-- Sums of whole hours, from which the sums of days are made (docs/decisions/0140). Triggers append what each payment adds; a
-- worker moves that into the hours. Hours and what is not moved yet are always the whole truth together.
create table summary_hours (
  merchant_id text not null,
  hour timestamptz not null,
  kind text not null check (kind in ('received', 'settled')),
  account_id text not null,
  token_id text not null,
  payments bigint not null,
  total_value numeric(40, 0) not null,
  fee_value numeric(40, 0) not null,
  net_value numeric(40, 0) not null,
  primary key (merchant_id, hour, kind, account_id, token_id)
);

-- A queue: rows live for a second, and what is dead must not pile up.
create table summary_changes (
  merchant_id text not null,
  at timestamptz not null,
  kind text not null,
  session_id text not null,
  account_id text not null,
  token_id text not null,
  total_value bigint not null,
  fee_value bigint not null,
  net_value bigint not null
);
alter table summary_changes set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 20000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 20000
);

create or replace function note_received_value() returns trigger language plpgsql as $$
begin
  with added as (
    insert into summary_values
    select new.merchant_id, new.payment_succeeded_at, 'received', new.session_id, new.paid_token,
      total_value, fee_value, net_value from orders where order_id = new.order_id
    on conflict do nothing returning *
  )
  insert into summary_changes
  select merchant_id, at, kind, session_id, new.account_id, token_id, total_value, fee_value, net_value from added;
  return null;
end $$;
create or replace function note_settled_value() returns trigger language plpgsql as $$
begin
  with added as (
    insert into summary_values
    select new.merchant_id, new.settlement_succeeded_at, 'settled', new.session_id, new.settlement_token,
      total_value, fee_value, net_value from orders where order_id = new.order_id
    on conflict do nothing returning *
  )
  insert into summary_changes
  select merchant_id, at, kind, session_id, new.account_id, token_id, total_value, fee_value, net_value from added;
  return null;
end $$;
-- Waits for transactions that may still run the functions as they were: after this, every new value is among the changes.
lock table sessions in share row exclusive mode;
