-- The differences of books that were never compared. They open once two checks find the same ones and all blocks were read
-- again in between.
alter table chain_reconciliations add column unopened_differences text not null default '';
