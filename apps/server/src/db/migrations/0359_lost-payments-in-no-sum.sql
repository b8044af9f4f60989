-- A payment that a reorganisation below finality took back is in no sum until it is final again.
alter table summary_changes add column payments int not null default 1;

create function withdraw_summary_values() returns trigger language plpgsql as $$
begin
  -- A settlement that was made again keeps the time of the first one here. Chains have clocks of their own.
  with gone as (
    delete from summary_values
    where merchant_id = old.merchant_id and at >= old.created_at - interval '1 day' and session_id = old.session_id
    returning *
  )
  insert into summary_changes (merchant_id, at, kind, session_id, account_id, token_id, total_value, fee_value, net_value, payments)
  select merchant_id, at, kind, session_id, old.account_id, token_id, -total_value, -fee_value, -net_value, -1 from gone;
  return null;
end $$;

create or replace trigger sessions_received after update on sessions for each row
  when ((old.payment_succeeded_at is null or old.pending_reason = 'payment_reorged')
    and new.payment_succeeded_at is not null and new.pending_reason <> 'payment_reorged')
  execute function note_received_value();
create or replace trigger sessions_received after update on sessions_archive for each row
  when ((old.payment_succeeded_at is null or old.pending_reason = 'payment_reorged')
    and new.payment_succeeded_at is not null and new.pending_reason <> 'payment_reorged')
  execute function note_received_value();
create trigger sessions_lost after update on sessions for each row
  when (old.payment_succeeded_at is not null and old.pending_reason <> 'payment_reorged'
    and (new.payment_succeeded_at is null or new.pending_reason = 'payment_reorged'))
  execute function withdraw_summary_values();
create trigger sessions_lost after update on sessions_archive for each row
  when (old.payment_succeeded_at is not null and old.pending_reason <> 'payment_reorged'
    and (new.payment_succeeded_at is null or new.pending_reason = 'payment_reorged'))
  execute function withdraw_summary_values();
