import { type Row, statement } from '#db/statement.ts';

const cursorColumns = {
  head_number: 'int8',
  head_hash: 'text',
  head_time: 'timestamptz',
  final_number: 'int8',
  final_hash: 'text',
  final_time: 'timestamptz',
  halted_reason: 'text',
} as const;
const cursorList = Object.keys(cursorColumns).join(', ');

const blockColumns = {
  block_number: 'int8',
  block_hash: 'text',
  parent_hash: 'text',
  block_time: 'timestamptz',
} as const;
const blockList = Object.keys(blockColumns).join(', ');

const eventColumns = {
  chain_id: 'int8',
  block_number: 'int8',
  block_hash: 'text',
  log_index: 'int4',
  tx_hash: 'text',
  block_time: 'timestamptz',
  contract: 'text',
  event_name: 'text',
  order_id: 'text',
  arguments: 'jsonb',
} as const;
const eventList = Object.keys(eventColumns).join(', ');

export const cursorOfChain = statement(
  'watcher_cursor',
  ['int8'],
  cursorColumns,
  `select ${cursorList} from chain_cursors where chain_id = $1`,
);
export type CursorRow = Row<typeof cursorOfChain>;

// Everything that moves a chain takes this lock first, so that two watchers of one chain take turns.
export const lockCursor = statement(
  'watcher_cursor_lock',
  ['int8'],
  cursorColumns,
  `select ${cursorList} from chain_cursors where chain_id = $1 for update`,
);

export const insertCursor = statement(
  'watcher_cursor_insert',
  ['int8', 'int8', 'text', 'timestamptz', 'timestamptz'],
  {},
  `insert into chain_cursors
     (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values ($1, $2, $3, $4, $2, $3, $4, $5)
   on conflict (chain_id) do nothing`,
);

export const moveHead = statement(
  'watcher_head_move',
  ['int8', 'int8', 'text', 'timestamptz', 'timestamptz'],
  {},
  `update chain_cursors set head_number = $2, head_hash = $3, head_time = $4, updated_at = $5 where chain_id = $1`,
);

export const moveFinal = statement(
  'watcher_final_move',
  ['int8', 'int8', 'text', 'timestamptz', 'timestamptz'],
  {},
  `update chain_cursors set final_number = $2, final_hash = $3, final_time = $4, updated_at = $5 where chain_id = $1`,
);

export const setHalted = statement(
  'watcher_halted_set',
  ['int8', 'text', 'timestamptz'],
  {},
  `update chain_cursors set halted_reason = $2, updated_at = $3 where chain_id = $1`,
);

export const insertBlock = statement(
  'watcher_block_insert',
  ['int8', 'int8', 'text', 'text', 'timestamptz'],
  {},
  `insert into chain_blocks (chain_id, ${blockList}) values ($1, $2, $3, $4, $5) on conflict do nothing`,
);

// One statement for a run of blocks without events: compare-and-set on the head's hash, then the rows.
export const appendEmptyBlocks = statement(
  'watcher_blocks_append',
  [
    'int8',
    'text',
    'int8',
    'text',
    'timestamptz',
    'timestamptz',
    'int8[]',
    'text[]',
    'text[]',
    'timestamptz[]',
  ],
  { block_number: 'int8' },
  `with moved as (
     update chain_cursors set head_number = $3, head_hash = $4, head_time = $5, updated_at = $6
     where chain_id = $1 and head_hash = $2 and halted_reason = ''
     returning chain_id
   )
   insert into chain_blocks (chain_id, ${blockList})
   select moved.chain_id, block.* from moved, unnest($7::int8[], $8::text[], $9::text[], $10::timestamptz[]) as block
   returning block_number`,
);

export const blockAt = statement(
  'watcher_block_at',
  ['int8', 'int8'],
  blockColumns,
  `select ${blockList} from chain_blocks where chain_id = $1 and block_number = $2`,
);
export type BlockRow = Row<typeof blockAt>;

export const blocksAt = statement(
  'watcher_blocks_at',
  ['int8', 'int8[]'],
  blockColumns,
  `select ${blockList} from chain_blocks where chain_id = $1 and block_number = any ($2)`,
);

export const deleteBlock = statement(
  'watcher_block_delete',
  ['int8', 'int8'],
  {},
  `delete from chain_blocks where chain_id = $1 and block_number = $2`,
);

// At most $3 rows, so that a long gap is not one long statement.
export const pruneBlocks = statement(
  'watcher_blocks_prune',
  ['int8', 'int8', 'int8'],
  {},
  `delete from chain_blocks where chain_id = $1 and block_number in (
     select block_number from chain_blocks where chain_id = $1 and block_number < $2 order by block_number limit $3
   )`,
);

export const insertEvents = statement(
  'watcher_events_insert',
  ['int8', 'int8', 'text', 'timestamptz', 'int4[]', 'text[]', 'text[]', 'text[]', 'text[]', 'jsonb[]'],
  {},
  `insert into chain_events
     (chain_id, block_number, block_hash, block_time, log_index, tx_hash, contract, event_name, order_id, arguments)
   select $1, $2, $3, $4, event.*
   from unnest($5::int4[], $6::text[], $7::text[], $8::text[], $9::text[], $10::jsonb[]) as event`,
);

export const deleteEvents = statement(
  'watcher_events_delete',
  ['int8', 'int8'],
  eventColumns,
  `delete from chain_events where chain_id = $1 and block_number = $2 returning ${eventList}`,
);
export type EventRow = Row<typeof deleteEvents>;

export const finalizeEvents = statement(
  'watcher_events_finalize',
  ['int8', 'int8'],
  eventColumns,
  `update chain_events set is_final = true
   where chain_id = $1 and block_number <= $2 and not is_final
   returning ${eventList}`,
);
