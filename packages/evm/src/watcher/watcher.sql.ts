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

export const blockColumns = {
  block_number: 'int8',
  block_hash: 'text',
  parent_hash: 'text',
  block_time: 'timestamptz',
} as const;
export const blockList = Object.keys(blockColumns).join(', ');

export const eventColumns = {
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
export const eventList = Object.keys(eventColumns).join(', ');

export const cursorOfChain = statement({
  name: 'watcher_cursor',
  parameters: { chainId: 'int8' },
  columns: cursorColumns,
  text: `select ${cursorList} from chain_cursors where chain_id = :chainId`,
});
export type CursorRow = Row<typeof cursorOfChain>;

// Every move of a chain takes this lock first, so that two watchers of one chain take turns.
export const lockCursor = statement({
  name: 'watcher_cursor_lock',
  parameters: { chainId: 'int8' },
  columns: cursorColumns,
  text: `select ${cursorList} from chain_cursors where chain_id = :chainId for update`,
});

export const insertCursor = statement({
  name: 'watcher_cursor_insert',
  parameters: {
    chainId: 'int8',
    headNumber: 'int8',
    headHash: 'text',
    headTime: 'timestamptz',
    updatedAt: 'timestamptz',
  },
  text: `insert into chain_cursors
     (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values (:chainId, :headNumber, :headHash, :headTime, :headNumber, :headHash, :headTime, :updatedAt)
   on conflict (chain_id) do nothing`,
});

export const moveHead = statement({
  name: 'watcher_head_move',
  parameters: {
    chainId: 'int8',
    headNumber: 'int8',
    headHash: 'text',
    headTime: 'timestamptz',
    updatedAt: 'timestamptz',
  },
  text: `update chain_cursors set head_number = :headNumber, head_hash = :headHash, head_time = :headTime, updated_at = :updatedAt where chain_id = :chainId`,
});

export const moveFinal = statement({
  name: 'watcher_final_move',
  parameters: {
    chainId: 'int8',
    finalNumber: 'int8',
    finalHash: 'text',
    finalTime: 'timestamptz',
    updatedAt: 'timestamptz',
  },
  text: `update chain_cursors set final_number = :finalNumber, final_hash = :finalHash, final_time = :finalTime, updated_at = :updatedAt where chain_id = :chainId`,
});

export const setHalted = statement({
  name: 'watcher_halted_set',
  parameters: { chainId: 'int8', haltedReason: 'text', updatedAt: 'timestamptz' },
  text: `update chain_cursors set halted_reason = :haltedReason, updated_at = :updatedAt where chain_id = :chainId`,
});

export const insertBlock = statement({
  name: 'watcher_block_insert',
  parameters: { chainId: 'int8', number: 'int8', hash: 'text', parentHash: 'text', time: 'timestamptz' },
  text: `insert into chain_blocks (chain_id, ${blockList}) values (:chainId, :number, :hash, :parentHash, :time) on conflict do nothing`,
});

/** Whether the cursor is still at this head, and the chain was neither halted nor reverted meanwhile. */
const isUnmoved = (headHash: string) =>
  `head_hash = ${headHash} and halted_reason = '' and not is_resync_due`;

// One statement for a run of blocks without events: compare-and-set on the head's hash and the leader's term, then
// the rows. Without a term, any leader may move it. Returns the cursor, so the next round need not read it.
export const appendEmptyBlocks = statement({
  name: 'watcher_blocks_append',
  parameters: {
    chainId: 'int8',
    expectedHash: 'text',
    headNumber: 'int8',
    headHash: 'text',
    headTime: 'timestamptz',
    updatedAt: 'timestamptz',
    numbers: 'int8[]',
    hashes: 'text[]',
    parentHashes: 'text[]',
    times: 'timestamptz[]',
    term: 'int8?',
  },
  columns: cursorColumns,
  text: `with moved as (
     update chain_cursors set head_number = :headNumber, head_hash = :headHash, head_time = :headTime, updated_at = :updatedAt
     where chain_id = :chainId and ${isUnmoved(':expectedHash')} and leader_term = coalesce(:term, leader_term)
     returning chain_id, ${cursorList}
   ), stored as (
     insert into chain_blocks (chain_id, ${blockList})
     select moved.chain_id, block.* from moved, unnest(:numbers::int8[], :hashes::text[], :parentHashes::text[], :times::timestamptz[]) as block
   )
   select ${cursorList} from moved`,
});

// The same for one block with its events: three tables in one round trip. Locks the cursor like every other move.
// Handlers query by key afterwards: planning the insert again for each event would take half a millisecond.
export const appendBlockWithEvents = statement({
  name: 'watcher_block_append',
  parameters: {
    chainId: 'int8',
    expectedHash: 'text',
    number: 'int8',
    hash: 'text',
    parentHash: 'text',
    time: 'timestamptz',
    updatedAt: 'timestamptz',
    term: 'int8?',
    logIndexes: 'int4[]',
    txHashes: 'text[]',
    contracts: 'text[]',
    eventNames: 'text[]',
    orderIds: 'text[]',
    arguments: 'jsonb[]',
  },
  columns: { ...cursorColumns, plan_mode: 'text?' },
  text: `with moved as (
     update chain_cursors set head_number = :number, head_hash = :hash, head_time = :time, updated_at = :updatedAt
     where chain_id = :chainId and ${isUnmoved(':expectedHash')} and leader_term = coalesce(:term, leader_term)
     returning chain_id, ${cursorList}
   ), stored as (
     insert into chain_blocks (chain_id, ${blockList}) select chain_id, :number, :hash, :parentHash, :time from moved
   ), stored_events as (
     insert into chain_events
       (chain_id, block_number, block_hash, block_time, log_index, tx_hash, contract, event_name, order_id, arguments)
     select moved.chain_id, :number, :hash, :time, event.*
     from moved, unnest(:logIndexes::int4[], :txHashes::text[], :contracts::text[], :eventNames::text[], :orderIds::text[], :arguments::jsonb[]) as event
   )
   select ${cursorList}, set_config('plan_cache_mode', 'force_generic_plan', true) as plan_mode from moved`,
});

export const blockAt = statement({
  name: 'watcher_block_at',
  parameters: { chainId: 'int8', blockNumber: 'int8' },
  columns: blockColumns,
  text: `select ${blockList} from chain_blocks where chain_id = :chainId and block_number = :blockNumber`,
});
export type BlockRow = Row<typeof blockAt>;

export const blocksAt = statement({
  name: 'watcher_blocks_at',
  parameters: { chainId: 'int8', blockNumbers: 'int8[]' },
  columns: blockColumns,
  text: `select ${blockList} from chain_blocks where chain_id = :chainId and block_number = any (:blockNumbers)`,
});

export const deleteBlock = statement({
  name: 'watcher_block_delete',
  parameters: { chainId: 'int8', blockNumber: 'int8' },
  text: `delete from chain_blocks where chain_id = :chainId and block_number = :blockNumber`,
});

// At most :limit rows, so that a long gap does not become one long statement.
export const pruneBlocks = statement({
  name: 'watcher_blocks_prune',
  parameters: { chainId: 'int8', below: 'int8', limit: 'int8' },
  text: `delete from chain_blocks where chain_id = :chainId and block_number in (
     select block_number from chain_blocks where chain_id = :chainId and block_number < :below order by block_number limit :limit
   )`,
});

// Selects by block, because the primary key leads to a block's events.
export const finalOfTransaction = statement({
  name: 'watcher_final_of_transaction',
  parameters: { chainId: 'int8', blockNumber: 'int8', txHash: 'text', eventName: 'text' },
  columns: eventColumns,
  text: `select ${eventList} from chain_events
   where chain_id = :chainId and block_number = :blockNumber and tx_hash = :txHash and event_name = :eventName and is_final`,
});

export const deleteEvents = statement({
  name: 'watcher_events_delete',
  parameters: { chainId: 'int8', blockNumber: 'int8' },
  columns: eventColumns,
  text: `delete from chain_events where chain_id = :chainId and block_number = :blockNumber returning ${eventList}`,
});
export type EventRow = Row<typeof deleteEvents>;

// Starts above the last final block, because everything below is final: a range of the primary key.
export const finalizeEvents = statement({
  name: 'watcher_events_finalize',
  parameters: { chainId: 'int8', finalNumber: 'int8', finalBefore: 'int8' },
  columns: eventColumns,
  text: `update chain_events set is_final = true
   where chain_id = :chainId and block_number > :finalBefore and block_number <= :finalNumber and not is_final
   returning ${eventList}`,
});

export const hasDroppedEvents = statement({
  name: 'watcher_dropped_any',
  parameters: { chainId: 'int8' },
  columns: { chain_id: 'int8' },
  text: `select chain_id from dropped_events where chain_id = :chainId and returned_at is null limit 1`,
});

// Finds the same event again, in any block. An event that is counted per transaction is the same only in the same
// transaction: others move other money.
export const markReturned = statement({
  name: 'watcher_dropped_return',
  parameters: {
    chainId: 'int8',
    txHashes: 'text[]',
    contracts: 'text[]',
    eventNames: 'text[]',
    orderIds: 'text[]',
    arguments: 'jsonb[]',
    perTransaction: 'text[]',
    returnedAt: 'timestamptz',
  },
  columns: { order_id: 'text' },
  text: `update dropped_events d set returned_at = :returnedAt
   from unnest(:txHashes::text[], :contracts::text[], :eventNames::text[], :orderIds::text[], :arguments::jsonb[])
     as event (tx_hash, contract, event_name, order_id, arguments)
   where d.chain_id = :chainId and d.returned_at is null and d.order_id = event.order_id
     and d.contract = event.contract and d.event_name = event.event_name and d.arguments = event.arguments
     and (d.event_name <> all (:perTransaction) or d.tx_hash = event.tx_hash)
   returning d.order_id`,
});
