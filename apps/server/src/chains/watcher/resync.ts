import type { Block } from '../event.ts';
import { calls, getBlock, headerIn, parseHeader } from '../rpc/actions.ts';
import { RpcAnswerInvalid, RpcUnavailable, resultOf, surveyOf } from '../rpc/rpc.ts';
import { lockUnmoved, type MoveContext } from './chain-move.ts';
import { type ChainCursor, parseBlock, parseEvents } from './cursor.ts';
import type { WatcherState } from './state.ts';
import {
  dropBlocks,
  dropEvents,
  dropFinalEvents,
  endResync,
  insertBlock,
  rewindCursor,
  storedBlocks,
} from './watcher.sql.ts';

/** Stored blocks compared at once. */
const comparedAtOnce = 100;

/**
 * After an operator has let a halted chain go on: goes back to the last stored block that the chain still has, be it
 * below the final one, and takes back what stood above. Final events are kept in `dropped_events` until they are final
 * again. Where the final block still stands, nothing is taken back.
 */
export async function resync(state: WatcherState, cursor: ChainCursor): Promise<void> {
  const anchor = await findAnchor(state, cursor);
  const answers = await surveyOf(state.rpc, [calls.block(anchor.number)]);
  const agreeing = answers.filter((answer) => headerIn(answer, 0)?.hash === anchor.hash);
  if (agreeing.length < (state.chain.finality.quorum ?? 1)) {
    throw new RpcUnavailable('too few nodes have the block to begin again from');
  }
  // What an operator has seen is no reason to halt again: the tag may stay behind for as long as it likes.
  if (anchor.number >= cursor.finalNumber) {
    await state.db.transaction(async (transaction) => {
      await lockUnmoved(transaction, state, cursor);
      await transaction.query(endResync, [state.chain.chainId, state.clock.now()]);
    });
    state.acceptedFinal = cursor.finalNumber;
    return;
  }
  state.acceptedFinal = anchor.number;
  state.prunedNumber = 0n;
  await rewind(state, cursor, anchor);
}

async function findAnchor(state: WatcherState, cursor: ChainCursor): Promise<Block> {
  const { chainId, startBlock } = state.chain;
  let from = cursor.headNumber;
  for (;;) {
    const rows = await state.db.query(storedBlocks, [chainId, from, comparedAtOnce]);
    const blocks = rows.map(parseBlock);
    const last = blocks.at(-1);
    if (last === undefined) break;
    const outcomes = await state.rpc.batch(blocks.map((block) => calls.block(block.number)));
    const anchor = blocks.find((block, index) => parseHeader(resultOf(outcomes[index]))?.hash === block.hash);
    if (anchor !== undefined) return anchor;
    from = last.number - 1n;
  }
  // Deeper than what is kept: everything is read again.
  const header = await getBlock(state.rpc, startBlock > 0n ? startBlock - 1n : 0n);
  if (header === undefined) throw new RpcAnswerInvalid('a node that lacks the block where watching begins');
  return header;
}

/** Takes back everything above the anchor, final or not, and makes it head and final block. */
export async function rewind(context: MoveContext, cursor: ChainCursor, anchor: Block): Promise<void> {
  const { chain, clock, handler } = context;
  const { chainId } = chain;
  const counts = await context.db.transaction(async (transaction) => {
    await lockUnmoved(transaction, context, cursor);
    const now = clock.now();
    const removed = parseEvents(await transaction.query(dropEvents, [chainId, anchor.number]));
    const dropped = parseEvents(await transaction.query(dropFinalEvents, [chainId, anchor.number, now]));
    await transaction.query(dropBlocks, [chainId, anchor.number]);
    const { number, hash, parentHash, time } = anchor;
    await transaction.query(insertBlock, [chainId, number, hash, parentHash, time]);
    await transaction.query(rewindCursor, [chainId, number, hash, time, now]);
    await handler.onRewind?.(transaction, chain, anchor);
    if (removed.length > 0) await handler.onReorg(transaction, chain, removed);
    if (dropped.length > 0) await handler.onDropped?.(transaction, chain, dropped);
    return { removed: removed.length, dropped: dropped.length };
  });
  context.log.error('chain.resynced', new Error('final blocks were taken back'), {
    chainId,
    fromBlock: anchor.number.toString(),
    finalBefore: cursor.finalNumber.toString(),
    ...counts,
  });
}
