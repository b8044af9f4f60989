-- Why every node refused the attempt when it was last broadcast; empty while a node has it. An attempt that no node has is in
-- no block, however long one waits.
alter table sent_attempts add column refusal text not null default '';
