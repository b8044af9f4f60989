import { statement } from '@florin/pg';

export const clearCursors = statement(
  'bench_cursors_clear',
  ['int8'],
  {},
  'delete from chain_cursors where chain_id = $1',
);

export const clearBlocks = statement(
  'bench_blocks_clear',
  ['int8'],
  {},
  'delete from chain_blocks where chain_id = $1',
);

export const clearEvents = statement(
  'bench_events_clear',
  ['int8'],
  {},
  'delete from chain_events where chain_id = $1',
);

export const noteBlock = statement(
  'bench_block_note',
  ['int8', 'int8', 'text', 'timestamptz'],
  {},
  `insert into chain_blocks (chain_id, block_number, block_hash, parent_hash, block_time) values ($1, $2, $3, $3, $4)`,
);
