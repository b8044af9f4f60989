import type { ChainEvent } from '../event.ts';
import { calls, headerIn } from '../rpc/actions.ts';
import { RpcAnswerInvalid, RpcUnavailable, surveyOf } from '../rpc/rpc.ts';
import { type FetchedBlock, fetchBlocks } from './block-source.ts';
import {
  CursorMoved,
  eventColumnsOf,
  lockUnmoved,
  type MoveContext,
  noteReturned,
  storedBlock,
} from './chain-move.ts';
import { type ChainCursor, parseEvents } from './cursor.ts';
import type { WatcherState } from './state.ts';
import { deleteTransfers, insertMissingEvents, moveBackfill, transfersOfBlock } from './watcher.sql.ts';

/** Blocks read again between two looks at the head. */
const blocksAtOnce = 200;

/**
 * Reads some final blocks a second time, where an operator has asked for it, and tells the handler of the events that
 * were missing: first as new, then as final. Throws `CursorMoved` where somebody else leads or has asked for other blocks.
 */
export async function backfill(state: WatcherState, cursor: ChainCursor, from: bigint): Promise<void> {
  const { chain, clock, db } = state;
  const left = cursor.finalNumber - from + 1n;
  const count = left < BigInt(blocksAtOnce) ? Number(left) : blocksAtOnce;
  const blocks = count <= 0 ? [] : await fetchBlocks(state.rpc, state.watched, from, count);
  if (blocks.length < count) throw new RpcAnswerInvalid('a node that lacks final blocks');
  const last = blocks.at(-1);
  if (last !== undefined) await requireCanonical(state, last);
  for (const block of blocks) if (block.events.length > 0) await addMissing(state, cursor, block);
  const next = from + BigInt(count);
  const moved = await db.query(moveBackfill, [chain.chainId, next, clock.now(), from, state.term ?? null]);
  if (moved.length === 0) throw new CursorMoved();
}

/** The blocks below hang on this one by their hashes. */
async function requireCanonical(state: WatcherState, { header }: FetchedBlock): Promise<void> {
  const stored = await storedBlock(state, header.number);
  if (stored !== undefined && stored.hash !== header.hash) {
    throw new RpcAnswerInvalid('another block at a final height');
  }
  const answers = await surveyOf(state.rpc, [calls.block(header.number)]);
  const agreeing = answers.filter((answer) => headerIn(answer, 0)?.hash === header.hash);
  if (agreeing.length < (state.chain.finality.quorum ?? 1)) {
    throw new RpcUnavailable('too few nodes have the blocks to be read again');
  }
}

/**
 * Adds what a block that was read again has more than is stored of it. Where an event was missing of tokens that moved, the
 * first reading took them for a transfer of somebody's: that is taken back.
 */
export async function addMissing(
  state: MoveContext,
  cursor: ChainCursor,
  { header, events }: FetchedBlock,
): Promise<void> {
  const { chain, handler } = state;
  await state.db.transaction(async (transaction) => {
    await lockUnmoved(transaction, state, cursor);
    const transfers = parseEvents(await transaction.query(transfersOfBlock, [chain.chainId, header.number]));
    const misread = transfers.filter((stored) => !events.some((event) => isSameTransfer(event, stored)));
    if (misread.length > 0) {
      const [places, , contracts] = eventColumnsOf(misread);
      await transaction.query(deleteTransfers, [chain.chainId, header.number, places, contracts]);
      await handler.onMisread?.(transaction, chain, misread);
    }
    const rows = await transaction.query(insertMissingEvents, [
      chain.chainId,
      header.number,
      header.hash,
      header.time,
      ...eventColumnsOf(events),
    ]);
    const missing = parseEvents(rows);
    if (missing.length === 0) return;
    state.log.warn('watcher.events_backfilled', {
      chainId: chain.chainId,
      block: header.number.toString(),
      events: missing.length,
    });
    await handler.onBlock(transaction, chain, header, missing);
    await noteReturned(transaction, state, missing);
    await handler.onFinal(transaction, chain, header, missing);
  });
}

function isSameTransfer(event: ChainEvent, stored: ChainEvent): boolean {
  const named = ['token', 'amount'] as const;
  return (
    event.name === stored.name &&
    event.logIndex === stored.logIndex &&
    event.contract === stored.contract &&
    named.every((name) => event.arguments[name] === stored.arguments[name])
  );
}
