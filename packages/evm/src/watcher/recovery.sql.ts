import { statement } from '@florin/pg';
import { blockColumns, blockList, eventColumns, eventList } from './watcher.sql.ts';

// Inserts the events that a backfill finds. Stored events stay unchanged; the returned rows were missing.
export const insertMissingEvents = statement({
  name: 'watcher_events_insert_missing',
  parameters: {
    chainId: 'int8',
    number: 'int8',
    hash: 'text',
    time: 'timestamptz',
    logIndexes: 'int4[]',
    txHashes: 'text[]',
    contracts: 'text[]',
    eventNames: 'text[]',
    orderIds: 'text[]',
    arguments: 'jsonb[]',
  },
  columns: eventColumns,
  text: `insert into chain_events
     (chain_id, block_number, block_hash, block_time, log_index, tx_hash, contract, event_name, order_id, arguments,
      is_final)
   select :chainId, :number, :hash, :time, event.*, true
   from unnest(:logIndexes::int4[], :txHashes::text[], :contracts::text[], :eventNames::text[], :orderIds::text[], :arguments::jsonb[]) as event
   on conflict do nothing
   returning ${eventList}`,
});

export const finalEventsNamed = statement({
  name: 'watcher_final_events_named',
  parameters: { chainId: 'int8', blockNumber: 'int8', eventNames: 'text[]' },
  columns: eventColumns,
  text: `select ${eventList} from chain_events
   where chain_id = :chainId and block_number = :blockNumber and is_final and event_name = any (:eventNames)`,
});

export const deleteEventsAt = statement({
  name: 'watcher_events_delete_at',
  parameters: {
    chainId: 'int8',
    blockNumber: 'int8',
    logIndexes: 'int4[]',
    contracts: 'text[]',
    eventNames: 'text[]',
  },
  text: `delete from chain_events where chain_id = :chainId and block_number = :blockNumber
     and (log_index, contract, event_name) in (
       select * from unnest(:logIndexes::int4[], :contracts::text[], :eventNames::text[]))`,
});

// The chain stays halted until the watcher has gone back: until then the tables show final events that no longer
// exist.
export const requestResync = statement({
  name: 'watcher_resync_request',
  parameters: { chainId: 'int8', updatedAt: 'timestamptz' },
  text: `update chain_cursors set is_resync_due = true, updated_at = :updatedAt where chain_id = :chainId and halted_reason <> ''`,
});

export const requestBackfill = statement({
  name: 'watcher_backfill_request',
  parameters: { chainId: 'int8', from: 'int8', updatedAt: 'timestamptz' },
  columns: { final_number: 'int8' },
  text: `update chain_cursors set backfill_next = least(coalesce(backfill_next, :from), :from), updated_at = :updatedAt
   where chain_id = :chainId and :from <= final_number returning final_number`,
});

// Compare-and-set on the position of the backfill and on the leader's term, because an operator may have requested
// earlier blocks meanwhile. Without a term, any leader may move it.
export const moveBackfill = statement({
  name: 'watcher_backfill_move',
  parameters: {
    chainId: 'int8',
    next: 'int8',
    updatedAt: 'timestamptz',
    expectedNext: 'int8',
    term: 'int8?',
  },
  columns: { chain_id: 'int8' },
  text: `update chain_cursors set backfill_next = case when :next <= final_number then :next end, updated_at = :updatedAt
   where chain_id = :chainId and backfill_next = :expectedNext and leader_term = coalesce(:term, leader_term)
   returning chain_id`,
});

// Copies final events into dropped_events first. An event that was dropped and returned before keeps its row.
export const dropFinalEvents = statement({
  name: 'watcher_final_events_drop',
  parameters: { chainId: 'int8', above: 'int8', droppedAt: 'timestamptz' },
  columns: eventColumns,
  text: `with dropped as (
     delete from chain_events where chain_id = :chainId and block_number > :above and is_final returning ${eventList}
   ), noted as (
     insert into dropped_events (${eventList}, dropped_at) select ${eventList}, :droppedAt from dropped
     on conflict (chain_id, block_hash, log_index, contract, event_name) do update set dropped_at = :droppedAt, returned_at = null
   )
   select ${eventList} from dropped`,
});

export const dropEvents = statement({
  name: 'watcher_events_drop',
  parameters: { chainId: 'int8', above: 'int8' },
  columns: eventColumns,
  text: `delete from chain_events where chain_id = :chainId and block_number > :above and not is_final returning ${eventList}`,
});

export const dropBlocks = statement({
  name: 'watcher_blocks_drop',
  parameters: { chainId: 'int8', above: 'int8' },
  text: `delete from chain_blocks where chain_id = :chainId and block_number > :above`,
});

export const rewindCursor = statement({
  name: 'watcher_cursor_rewind',
  parameters: {
    chainId: 'int8',
    headNumber: 'int8',
    headHash: 'text',
    headTime: 'timestamptz',
    updatedAt: 'timestamptz',
  },
  text: `update chain_cursors
   set head_number = :headNumber, head_hash = :headHash, head_time = :headTime, final_number = :headNumber, final_hash = :headHash, final_time = :headTime,
     is_resync_due = false, halted_reason = '', rewinds = rewinds + 1, updated_at = :updatedAt
   where chain_id = :chainId`,
});

export const endResync = statement({
  name: 'watcher_resync_end',
  parameters: { chainId: 'int8', updatedAt: 'timestamptz' },
  text: `update chain_cursors set is_resync_due = false, halted_reason = '', updated_at = :updatedAt where chain_id = :chainId`,
});

// Newest first, because most reorganisations are short.
export const storedBlocks = statement({
  name: 'watcher_blocks_stored',
  parameters: { chainId: 'int8', upTo: 'int8', limit: 'int8' },
  columns: blockColumns,
  text: `select ${blockList} from chain_blocks where chain_id = :chainId and block_number <= :upTo
   order by block_number desc limit :limit`,
});
