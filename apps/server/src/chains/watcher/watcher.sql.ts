import { type Row, statement } from '@florin/pg';

const cursorColumns = {
  head_number: 'int8',
  head_hash: 'text',
  head_time: 'timestamptz',
  final_number: 'int8',
  final_hash: 'text',
  final_time: 'timestamptz',
  halted_reason: 'text',
  leader_term: 'int8',
  is_resync_due: 'bool',
  backfill_next: 'int8?',
  rewinds: 'int8',
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

/** That the cursor is where this head is, and nobody has stopped the chain or sent it back meanwhile. */
const isUnmoved = (headHash: string) =>
  `head_hash = ${headHash} and halted_reason = '' and not is_resync_due`;

// One statement for a run of blocks without events: compare-and-set on the head's hash and the leader's term, then the
// rows. Without a term any leader's will do. What stands in the cursor now saves the next round a look.
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
    'int8',
  ],
  cursorColumns,
  `with moved as (
     update chain_cursors set head_number = $3, head_hash = $4, head_time = $5, updated_at = $6
     where chain_id = $1 and ${isUnmoved('$2')} and leader_term = coalesce($11, leader_term)
     returning chain_id, ${cursorList}
   ), stored as (
     insert into chain_blocks (chain_id, ${blockList})
     select moved.chain_id, block.* from moved, unnest($7::int8[], $8::text[], $9::text[], $10::timestamptz[]) as block
   )
   select ${cursorList} from moved`,
);

// The same for one block with its events: three tables in one round trip. Locks the cursor like every other move. What the
// handlers ask for after it is by key: to plan the insert of an event anew for each would take half a millisecond.
export const appendBlockWithEvents = statement(
  'watcher_block_append',
  [
    'int8',
    'text',
    'int8',
    'text',
    'text',
    'timestamptz',
    'timestamptz',
    'int8',
    'int4[]',
    'text[]',
    'text[]',
    'text[]',
    'text[]',
    'jsonb[]',
  ],
  { ...cursorColumns, plan_mode: 'text?' },
  `with moved as (
     update chain_cursors set head_number = $3, head_hash = $4, head_time = $6, updated_at = $7
     where chain_id = $1 and ${isUnmoved('$2')} and leader_term = coalesce($8, leader_term)
     returning chain_id, ${cursorList}
   ), stored as (
     insert into chain_blocks (chain_id, ${blockList}) select chain_id, $3, $4, $5, $6 from moved
   ), told as (
     insert into chain_events
       (chain_id, block_number, block_hash, block_time, log_index, tx_hash, contract, event_name, order_id, arguments)
     select moved.chain_id, $3, $4, $6, event.*
     from moved, unnest($9::int4[], $10::text[], $11::text[], $12::text[], $13::text[], $14::jsonb[]) as event
   )
   select ${cursorList}, set_config('plan_cache_mode', 'force_generic_plan', true) as plan_mode from moved`,
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

// What a backfill finds. What stands already stays: rows that come back were missing.
export const insertMissingEvents = statement(
  'watcher_events_insert_missing',
  ['int8', 'int8', 'text', 'timestamptz', 'int4[]', 'text[]', 'text[]', 'text[]', 'text[]', 'jsonb[]'],
  eventColumns,
  `insert into chain_events
     (chain_id, block_number, block_hash, block_time, log_index, tx_hash, contract, event_name, order_id, arguments,
      is_final)
   select $1, $2, $3, $4, event.*, true
   from unnest($5::int4[], $6::text[], $7::text[], $8::text[], $9::text[], $10::jsonb[]) as event
   on conflict do nothing
   returning ${eventList}`,
);

// What a first reading of a final block has made of tokens that moved, and of no event of ours.
export const transfersOfBlock = statement(
  'watcher_transfers_of_block',
  ['int8', 'int8'],
  eventColumns,
  `select ${eventList} from chain_events
   where chain_id = $1 and block_number = $2 and is_final and event_name = 'Transferred'`,
);

// By the block, whose events the primary key finds.
export const finalOfTransaction = statement(
  'watcher_final_of_transaction',
  ['int8', 'int8', 'text', 'text'],
  eventColumns,
  `select ${eventList} from chain_events
   where chain_id = $1 and block_number = $2 and tx_hash = $3 and event_name = $4 and is_final`,
);

export const deleteTransfers = statement(
  'watcher_transfers_delete',
  ['int8', 'int8', 'int4[]', 'text[]'],
  {},
  `delete from chain_events
   where chain_id = $1 and block_number = $2 and event_name = 'Transferred'
     and (log_index, contract) in (select * from unnest($3::int4[], $4::text[]))`,
);

export const deleteEvents = statement(
  'watcher_events_delete',
  ['int8', 'int8'],
  eventColumns,
  `delete from chain_events where chain_id = $1 and block_number = $2 returning ${eventList}`,
);
export type EventRow = Row<typeof deleteEvents>;

// From above the last final block, below which everything is final: a range of the primary key.
export const finalizeEvents = statement(
  'watcher_events_finalize',
  ['int8', 'int8', 'int8'],
  eventColumns,
  `update chain_events set is_final = true
   where chain_id = $1 and block_number > $3 and block_number <= $2 and not is_final
   returning ${eventList}`,
);

// The chain stays halted until that is done: until then others see what is no more as final.
export const requestResync = statement(
  'watcher_resync_request',
  ['int8', 'timestamptz'],
  {},
  `update chain_cursors set is_resync_due = true, updated_at = $2 where chain_id = $1 and halted_reason <> ''`,
);

export const requestBackfill = statement(
  'watcher_backfill_request',
  ['int8', 'int8', 'timestamptz'],
  { final_number: 'int8' },
  `update chain_cursors set backfill_next = least(coalesce(backfill_next, $2), $2), updated_at = $3
   where chain_id = $1 and $2 <= final_number returning final_number`,
);

// Compare-and-set on where the backfill was ($4) and on the leader's term: an operator may have asked for earlier blocks
// meanwhile. Without a term any leader's will do.
export const moveBackfill = statement(
  'watcher_backfill_move',
  ['int8', 'int8', 'timestamptz', 'int8', 'int8'],
  { chain_id: 'int8' },
  `update chain_cursors set backfill_next = case when $2 <= final_number then $2 end, updated_at = $3
   where chain_id = $1 and backfill_next = $4 and leader_term = coalesce($5, leader_term)
   returning chain_id`,
);

// Final events come first into dropped_events; the row of an event that was dropped and came back before is kept.
export const dropFinalEvents = statement(
  'watcher_final_events_drop',
  ['int8', 'int8', 'timestamptz'],
  eventColumns,
  `with dropped as (
     delete from chain_events where chain_id = $1 and block_number > $2 and is_final returning ${eventList}
   ), noted as (
     insert into dropped_events (${eventList}, dropped_at) select ${eventList}, $3 from dropped
     on conflict (chain_id, block_hash, log_index, contract, event_name) do update set dropped_at = $3, returned_at = null
   )
   select ${eventList} from dropped`,
);

export const dropEvents = statement(
  'watcher_events_drop',
  ['int8', 'int8'],
  eventColumns,
  `delete from chain_events where chain_id = $1 and block_number > $2 and not is_final returning ${eventList}`,
);

export const dropBlocks = statement(
  'watcher_blocks_drop',
  ['int8', 'int8'],
  {},
  `delete from chain_blocks where chain_id = $1 and block_number > $2`,
);

export const rewindCursor = statement(
  'watcher_cursor_rewind',
  ['int8', 'int8', 'text', 'timestamptz', 'timestamptz'],
  {},
  `update chain_cursors
   set head_number = $2, head_hash = $3, head_time = $4, final_number = $2, final_hash = $3, final_time = $4,
     is_resync_due = false, halted_reason = '', rewinds = rewinds + 1, updated_at = $5
   where chain_id = $1`,
);

export const endResync = statement(
  'watcher_resync_end',
  ['int8', 'timestamptz'],
  {},
  `update chain_cursors set is_resync_due = false, halted_reason = '', updated_at = $2 where chain_id = $1`,
);

// Newest first: most reorganisations are short.
export const storedBlocks = statement(
  'watcher_blocks_stored',
  ['int8', 'int8', 'int8'],
  blockColumns,
  `select ${blockList} from chain_blocks where chain_id = $1 and block_number <= $2
   order by block_number desc limit $3`,
);

export const hasDroppedEvents = statement(
  'watcher_dropped_any',
  ['int8'],
  { chain_id: 'int8' },
  `select chain_id from dropped_events where chain_id = $1 and returned_at is null limit 1`,
);

// The same fact again: order, name and every argument alike, wherever it stands now.
export const markReturned = statement(
  'watcher_dropped_return',
  ['int8', 'text[]', 'text[]', 'jsonb[]', 'timestamptz'],
  { order_id: 'text' },
  `update dropped_events d set returned_at = $5
   from unnest($2::text[], $3::text[], $4::jsonb[]) as event (order_id, event_name, arguments)
   where d.chain_id = $1 and d.returned_at is null and d.order_id = event.order_id
     and d.event_name = event.event_name and d.arguments = event.arguments
   returning d.order_id`,
);

export const droppedOfChain = statement(
  'watcher_dropped_list',
  ['int8', 'int8'],
  {
    order_id: 'text',
    event_name: 'text',
    tx_hash: 'text',
    block_number: 'int8',
    dropped_at: 'timestamptz',
    returned_at: 'timestamptz?',
    session_id: 'text?',
    session_status: 'text?',
  },
  `select d.order_id, d.event_name, d.tx_hash, d.block_number, d.dropped_at, d.returned_at, nullif(s.session_id, '') as session_id,
     nullif(s.status, '') as session_status
   from dropped_events d left join orders o on o.order_id = d.order_id
     left join sessions s on s.session_id = o.session_id
   where d.chain_id = $1 order by d.returned_at nulls first, d.block_number, d.log_index limit $2`,
);
