-- Goes up whenever final blocks of the chain are taken back: what a process has read of the chain before holds no more
-- (docs/decisions/0051).
alter table chain_cursors add column rewinds bigint not null default 0;

-- A chain that is to go on stays halted until its watcher has gone back.
update chain_cursors set halted_reason = 'resumed' where is_resync_due and halted_reason = '';
