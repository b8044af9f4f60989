import { calls, getBlock, headerIn, parseHeader } from '../nodes/actions.ts';
import { pollNodes, RpcAnswerInvalid, RpcUnavailable, resultOf } from '../nodes/rpc.ts';
import { type FetchedBlock, fetchBlocks } from './block-source.ts';
import {
  CursorChanged,
  eventColumnsOf,
  lockExpectedCursor,
  noteReturned,
  storedBlock,
} from './chain-move.ts';
import type { MoveContext, ReadContext, Watcher } from './context.ts';
import { type ChainCursor, parseBlock, parseEvents } from './cursor.ts';
import type { Block, FollowedEvent } from './event.ts';
import {
  deleteEventsAt,
  dropBlocks,
  dropEvents,
  dropFinalEvents,
  endResync,
  finalEventsNamed,
  insertMissingEvents,
  moveBackfill,
  rewindCursor,
  storedBlocks,
} from './recovery.sql.ts';
import type { Round, WatcherState } from './state.ts';
import { insertBlock } from './watcher.sql.ts';

/** Stored blocks compared at once. */
const comparedAtOnce = 100;

/**
 * Resumes after an operator has resumed a halted chain. Returns to the last stored block that the chain still has,
 * even below the final one, and reverts everything above it. Final events are kept in `dropped_events` until they are
 * final again. If the chain still has the final block, nothing is reverted.
 */
export async function resync(watcher: Watcher, round: Round): Promise<WatcherState> {
  const { cursor } = round;
  const anchor = await findAnchor(watcher, cursor);
  const answers = await pollNodes(watcher.rpc, [calls.block(anchor.number)]);
  const agreeing = answers.filter((answer) => headerIn(answer, 0)?.hash === anchor.hash);
  if (agreeing.length < watcher.chain.finality.quorum) {
    throw new RpcUnavailable('too few nodes have the block to begin again from');
  }
  if (anchor.number < cursor.finalNumber) {
    await rewind(watcher, cursor, anchor);
  } else {
    await watcher.db.transaction(async (transaction) => {
      await lockExpectedCursor(transaction, watcher, cursor);
      await transaction.query(endResync, { chainId: watcher.chain.chainId, updatedAt: watcher.clock.now() });
    });
  }
  // An operator has accepted this final height: nodes whose tag stays below it do not halt the chain again.
  return { ...round, found: 'behind', acceptedFinal: smaller(anchor.number, cursor.finalNumber) };
}

function smaller(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}

async function findAnchor(watcher: Watcher, cursor: ChainCursor): Promise<Block> {
  const { chainId, startBlock } = watcher.chain;
  let from = cursor.headNumber;
  for (;;) {
    const rows = await watcher.db.query(storedBlocks, { chainId, upTo: from, limit: comparedAtOnce });
    const blocks = rows.map(parseBlock);
    const last = blocks.at(-1);
    if (last === undefined) break;
    const outcomes = await watcher.rpc.batch(blocks.map((block) => calls.block(block.number)));
    const anchor = blocks.find((block, index) => parseHeader(resultOf(outcomes[index]))?.hash === block.hash);
    if (anchor !== undefined) return anchor;
    from = last.number - 1n;
  }
  // The fork is deeper than the retained blocks: read everything again.
  const header = await getBlock(watcher.rpc, startBlock > 0n ? startBlock - 1n : 0n);
  if (header === undefined) throw new RpcAnswerInvalid('a node that lacks the block where watching begins');
  return header;
}

/** Reverts everything above the anchor, final or not, and makes the anchor head and final block. */
export async function rewind(context: MoveContext, cursor: ChainCursor, anchor: Block): Promise<void> {
  const { chain, clock, handler } = context;
  const { chainId } = chain;
  const counts = await context.db.transaction(async (transaction) => {
    await lockExpectedCursor(transaction, context, cursor);
    const now = clock.now();
    const removed = parseEvents(await transaction.query(dropEvents, { chainId, above: anchor.number }));
    const dropped = parseEvents(
      await transaction.query(dropFinalEvents, { chainId, above: anchor.number, droppedAt: now }),
    );
    await transaction.query(dropBlocks, { chainId, above: anchor.number });
    const { number, hash, parentHash, time } = anchor;
    await transaction.query(insertBlock, { chainId, number, hash, parentHash, time });
    await transaction.query(rewindCursor, {
      chainId,
      headNumber: number,
      headHash: hash,
      headTime: time,
      updatedAt: now,
    });
    await handler.onRewind?.(transaction, chain, anchor);
    if (removed.length > 0) await handler.onReorg(transaction, chain, removed);
    if (dropped.length > 0) await handler.onDropped?.(transaction, chain, dropped);
    return { removed: removed.length, dropped: dropped.length };
  });
  context.log.error('chain.resynced', new Error('final blocks were reverted'), {
    chainId,
    fromBlock: anchor.number.toString(),
    finalBefore: cursor.finalNumber.toString(),
    ...counts,
  });
}

/** Blocks read again between two checks of the head. */
const blocksAtOnce = 200;

/**
 * Reads some final blocks again on request, and passes the missing events to the handler: first as new, then as
 * final. Throws `CursorChanged` where another process leads, or other blocks were requested meanwhile.
 */
export async function backfill(watcher: Watcher, cursor: ChainCursor): Promise<void> {
  const { chain, clock, db } = watcher;
  const { backfillNext: from } = cursor;
  if (from === undefined) return;
  const left = cursor.finalNumber - from + 1n;
  const count = left < BigInt(blocksAtOnce) ? Number(left) : blocksAtOnce;
  const blocks = count <= 0 ? [] : await fetchBlocks(watcher, from, count);
  if (blocks.length < count) throw new RpcAnswerInvalid('a node that lacks final blocks');
  const last = blocks.at(-1);
  if (last !== undefined) await requireCanonical(watcher, last);
  for (const block of blocks) if (block.events.length > 0) await addMissing(watcher, cursor, block);
  const next = from + BigInt(count);
  const moved = await db.query(moveBackfill, {
    chainId: chain.chainId,
    next,
    updatedAt: clock.now(),
    expectedNext: from,
    term: watcher.term ?? null,
  });
  if (moved.length === 0) throw new CursorChanged();
}

/** Proves the blocks below as well, because their hashes link them to this one. */
async function requireCanonical(watcher: Watcher, { header }: FetchedBlock): Promise<void> {
  const stored = await storedBlock(watcher, header.number);
  if (stored !== undefined && stored.hash !== header.hash) {
    throw new RpcAnswerInvalid('another block at a final height');
  }
  const answers = await pollNodes(watcher.rpc, [calls.block(header.number)]);
  const agreeing = answers.filter((answer) => headerIn(answer, 0)?.hash === header.hash);
  if (agreeing.length < watcher.chain.finality.quorum) {
    throw new RpcUnavailable('too few nodes have the blocks to be read again');
  }
}

/**
 * Stores the events that the second reading of a block adds to the first. Derived events that the second reading
 * lacks were wrong and are deleted.
 */
export async function addMissing(
  context: MoveContext & Pick<ReadContext, 'source'>,
  cursor: ChainCursor,
  { header, events }: FetchedBlock,
): Promise<void> {
  const { chain, handler, source } = context;
  await context.db.transaction(async (transaction) => {
    await lockExpectedCursor(transaction, context, cursor);
    const place = { chainId: chain.chainId, blockNumber: header.number };
    const derived = parseEvents(
      await transaction.query(finalEventsNamed, { ...place, eventNames: source.derivedNames }),
    );
    const misread = derived.filter((stored) => !events.some((event) => isSameEvent(event, stored)));
    if (misread.length > 0) {
      const { logIndexes, contracts, eventNames } = eventColumnsOf(misread);
      await transaction.query(deleteEventsAt, { ...place, logIndexes, contracts, eventNames });
      await handler.onMisread?.(transaction, chain, misread);
    }
    const rows = await transaction.query(insertMissingEvents, {
      chainId: chain.chainId,
      number: header.number,
      hash: header.hash,
      time: header.time,
      ...eventColumnsOf(events),
    });
    const missing = parseEvents(rows);
    if (missing.length === 0) return;
    context.log.warn('watcher.events_backfilled', {
      chainId: chain.chainId,
      block: header.number.toString(),
      events: missing.length,
    });
    await handler.onBlock(transaction, chain, header, missing);
    await noteReturned(transaction, context, missing);
    await handler.onFinal(transaction, chain, header, missing);
  });
}

function isSameEvent(event: FollowedEvent, stored: FollowedEvent): boolean {
  return (
    event.name === stored.name &&
    event.logIndex === stored.logIndex &&
    event.contract === stored.contract &&
    Object.entries(event.arguments).every(([name, value]) => stored.arguments[name] === value)
  );
}
