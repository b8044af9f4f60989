-- An addition by a wallet that is followed no more may be mined yet, and is never made again; but nothing will tell what
-- became of it, so its session waits for it no longer than for one that has succeeded.
alter table deposit_moves drop constraint deposit_moves_status_check;
alter table deposit_moves add constraint deposit_moves_status_check
  check (status in ('sent', 'succeeded', 'failed', 'unfollowed'));
