-- A reorg below finality may take back the money that an exception is about.
-- possible: it took blocks back in which the address got a transfer, and no final block has been read since. gone: no block has
-- the money any more.
alter table exceptions add column loss text not null default '';
alter table exceptions add constraint exceptions_loss check (loss in ('', 'possible', 'gone')) not valid;
