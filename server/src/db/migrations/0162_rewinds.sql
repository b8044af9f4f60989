-- Goes up whenever final blocks of the chain are taken back: what a process has read of the chain before holds no more
-- (docs/decisions/0051).
alter table chain_cursors add column rewinds bigint not null default 0;
