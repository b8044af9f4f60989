-- A merchant's refund asks whether a reorg took the payment back. As other events of chains, what was dropped is public.
create policy readable on dropped_events for select
  using ((select current_setting('florin.merchant', true)) <> '');
