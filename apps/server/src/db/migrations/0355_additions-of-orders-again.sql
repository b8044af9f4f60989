-- 0352 and 0353 read additions without a lock, so one that failed, or was followed again, at that moment could leave an older
-- value. The lock makes this wait for such a change and read it. Additions are locked before their orders, as the trigger does.
with latest as (
  select order_id, case when status in ('failed', 'unfollowed') then 0 else amount end as added
  from deposit_moves where move = 'add' order by order_id for update)
update orders o set added = latest.added from latest where o.order_id = latest.order_id and o.added <> latest.added;
