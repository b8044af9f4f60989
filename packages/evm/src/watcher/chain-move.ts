import type { Transaction } from '@florin/pg';
import type { BlockHeader } from '../nodes/actions.ts';
import type { FetchedBlock } from './block-source.ts';
import type { MoveContext } from './context.ts';
import { type ChainCursor, findCursor, lockChain, parseBlock, parseCursor, parseEvents } from './cursor.ts';
import type { Block, FollowedEvent } from './event.ts';
import {
  appendBlockWithEvents,
  appendEmptyBlocks,
  blockAt,
  type CursorRow,
  deleteBlock,
  deleteEvents,
  finalizeEvents,
  hasDroppedEvents,
  insertBlock,
  insertCursor,
  markReturned,
  moveFinal,
  moveHead,
  pruneBlocks,
  setHalted,
} from './watcher.sql.ts';

/** Another watcher or an operator has moved the cursor: read it again. Nothing was stored. */
export class CursorChanged extends Error {
  override readonly name = 'CursorChanged';
}

function blockOf(header: BlockHeader): Block {
  return { number: header.number, hash: header.hash, parentHash: header.parentHash, time: header.time };
}

/** Locks the cursor. Throws `CursorChanged` unless it is as expected and this process may still move it. */
export async function lockExpectedCursor(
  transaction: Transaction,
  { chain, term }: MoveContext,
  expected: ChainCursor,
): Promise<void> {
  const cursor = await lockChain(transaction, chain.chainId);
  if (
    cursor === undefined ||
    (cursor.haltedReason !== '' && !(cursor.isResyncDue && expected.isResyncDue)) ||
    (term !== undefined && cursor.leaderTerm !== term) ||
    cursor.headHash !== expected.headHash ||
    cursor.finalHash !== expected.finalHash
  ) {
    throw new CursorChanged();
  }
}

/** Begins a chain with the block before the first watched one, as head and as final. */
export async function beginChain(context: MoveContext, header: BlockHeader): Promise<ChainCursor> {
  const { chain, clock } = context;
  await context.db.transaction(async (transaction) => {
    await transaction.query(insertBlock, {
      chainId: chain.chainId,
      number: header.number,
      hash: header.hash,
      parentHash: header.parentHash,
      time: header.time,
    });
    await transaction.query(insertCursor, {
      chainId: chain.chainId,
      headNumber: header.number,
      headHash: header.hash,
      headTime: header.time,
      updatedAt: clock.now(),
    });
  });
  const cursor = await findCursor(context.db, chain.chainId);
  if (cursor === undefined) throw new Error(`chain ${chain.chainId} has no cursor after its beginning`);
  return cursor;
}

/**
 * Appends blocks that build on the head and on each other. Each block with events is stored together with the work of
 * its handler.
 */
export async function appendBlocks(
  context: MoveContext,
  cursor: ChainCursor,
  blocks: readonly FetchedBlock[],
): Promise<ChainCursor> {
  let current = cursor;
  let run: BlockHeader[] = [];
  for (const block of blocks) {
    if (block.events.length === 0) {
      run.push(block.header);
      continue;
    }
    current = await appendRun(context, current, run);
    run = [];
    current = await appendBlock(context, current, block);
  }
  return appendRun(context, current, run);
}

/** The cursor after a move. Throws `CursorChanged` when the statement returned none. */
function moved([row]: readonly CursorRow[]): ChainCursor {
  if (row === undefined) throw new CursorChanged();
  return parseCursor(row);
}

async function appendRun(
  context: MoveContext,
  cursor: ChainCursor,
  headers: readonly BlockHeader[],
): Promise<ChainCursor> {
  const last = headers.at(-1);
  if (last === undefined) return cursor;
  const rows = await context.db.query(appendEmptyBlocks, {
    chainId: context.chain.chainId,
    expectedHash: cursor.headHash,
    headNumber: last.number,
    headHash: last.hash,
    headTime: last.time,
    updatedAt: context.clock.now(),
    numbers: headers.map((header) => header.number),
    hashes: headers.map((header) => header.hash),
    parentHashes: headers.map((header) => header.parentHash),
    times: headers.map((header) => header.time),
    term: context.term ?? null,
  });
  return moved(rows);
}

async function appendBlock(
  context: MoveContext,
  cursor: ChainCursor,
  block: FetchedBlock,
): Promise<ChainCursor> {
  const { chain, clock, handler } = context;
  const { header, events } = block;
  return context.db.transaction(async (transaction) => {
    const rows = await transaction.query(appendBlockWithEvents, {
      chainId: chain.chainId,
      expectedHash: cursor.headHash,
      ...blockOf(header),
      updatedAt: clock.now(),
      term: context.term ?? null,
      ...eventColumnsOf(events),
    });
    const next = moved(rows);
    await handler.onBlock(transaction, chain, blockOf(header), events);
    return next;
  });
}

/** Events as the arrays that statements unnest. */
export function eventColumnsOf(events: readonly FollowedEvent[]) {
  return {
    logIndexes: events.map((event) => event.logIndex),
    txHashes: events.map((event) => event.txHash),
    contracts: events.map((event) => event.contract),
    eventNames: events.map((event) => event.name),
    orderIds: events.map((event) => event.orderId),
    arguments: events.map((event) => JSON.stringify(event.arguments)),
  };
}

/** Removes the head block and its events. Refuses a final block. */
export async function removeHead(context: MoveContext, cursor: ChainCursor): Promise<ChainCursor> {
  const { chain, clock, handler } = context;
  if (cursor.headNumber <= cursor.finalNumber) throw new Error('a final block cannot be taken back');
  return context.db.transaction(async (transaction) => {
    await lockExpectedCursor(transaction, context, cursor);
    const [parent] = await transaction.query(blockAt, {
      chainId: chain.chainId,
      blockNumber: cursor.headNumber - 1n,
    });
    if (parent === undefined)
      throw new Error(`block ${cursor.headNumber - 1n} of chain ${chain.chainId} is not stored`);
    const removed = parseEvents(
      await transaction.query(deleteEvents, { chainId: chain.chainId, blockNumber: cursor.headNumber }),
    );
    await transaction.query(deleteBlock, { chainId: chain.chainId, blockNumber: cursor.headNumber });
    await transaction.query(moveHead, {
      chainId: chain.chainId,
      headNumber: parent.block_number,
      headHash: parent.block_hash,
      headTime: parent.block_time,
      updatedAt: clock.now(),
    });
    if (removed.length > 0) await handler.onReorg(transaction, chain, removed);
    const block = parseBlock(parent);
    return { ...cursor, headNumber: block.number, headHash: block.hash, headTime: block.time };
  });
}

/** Our block at a height; undefined when the database does not have it. */
export async function storedBlock(context: MoveContext, number: bigint): Promise<Block | undefined> {
  const [row] = await context.db.query(blockAt, { chainId: context.chain.chainId, blockNumber: number });
  return row === undefined ? undefined : parseBlock(row);
}

/** Makes everything up to a stored block final. */
export async function finalize(
  context: MoveContext,
  cursor: ChainCursor,
  anchor: Block,
): Promise<ChainCursor> {
  const { chain, clock, handler } = context;
  await context.db.transaction(async (transaction) => {
    await lockExpectedCursor(transaction, context, cursor);
    const [row] = await transaction.query(blockAt, { chainId: chain.chainId, blockNumber: anchor.number });
    if (row?.block_hash !== anchor.hash || anchor.number <= cursor.finalNumber) throw new CursorChanged();
    await transaction.query(moveFinal, {
      chainId: chain.chainId,
      finalNumber: anchor.number,
      finalHash: anchor.hash,
      finalTime: anchor.time,
      updatedAt: clock.now(),
    });
    const range = { chainId: chain.chainId, finalNumber: anchor.number, finalBefore: cursor.finalNumber };
    const events = parseEvents(await transaction.query(finalizeEvents, range));
    await noteReturned(transaction, context, events);
    await handler.onFinal(transaction, chain, anchor, events);
  });
  return { ...cursor, finalNumber: anchor.number, finalHash: anchor.hash, finalTime: anchor.time };
}

/** Records which dropped events are final again. */
export async function noteReturned(
  transaction: Transaction,
  { chain, clock, handler }: MoveContext,
  events: readonly FollowedEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const { chainId } = chain;
  if ((await transaction.query(hasDroppedEvents, { chainId })).length === 0) return;
  const { txHashes, contracts, eventNames, orderIds, arguments: argumentTexts } = eventColumnsOf(events);
  await transaction.query(markReturned, {
    chainId,
    txHashes,
    contracts,
    eventNames,
    orderIds,
    arguments: argumentTexts,
    perTransaction: handler.perTransaction ?? [],
    returnedAt: clock.now(),
  });
}

/**
 * Halts the chain: it stops until `resumeChain`. Throws `CursorChanged` unless the cursor is the judged one: a paused
 * process must not halt a chain that an operator has resumed.
 */
export async function haltChain(
  context: MoveContext,
  cursor: ChainCursor,
  reason: string,
): Promise<ChainCursor> {
  const { chain, clock, db, log } = context;
  await db.transaction(async (transaction) => {
    await lockExpectedCursor(transaction, context, cursor);
    await transaction.query(setHalted, {
      chainId: chain.chainId,
      haltedReason: reason,
      updatedAt: clock.now(),
    });
  });
  log.error('chain.halted', new Error(reason), { chainId: chain.chainId });
  return { ...cursor, haltedReason: reason };
}

/** Blocks kept below the final one: the sender checks older receipts against them. */
export const retainedBlocks = 2_000n;
const prunedAtOnce = 5_000;

/** Deletes blocks that are no longer needed. Events have their own block data. */
export async function pruneChain(context: MoveContext, cursor: ChainCursor): Promise<void> {
  if (cursor.finalNumber <= retainedBlocks) return;
  await context.db.query(pruneBlocks, {
    chainId: context.chain.chainId,
    below: cursor.finalNumber - retainedBlocks,
    limit: prunedAtOnce,
  });
}
