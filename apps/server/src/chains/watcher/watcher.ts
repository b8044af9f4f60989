import type { Database } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import type { Chain } from '../chain.ts';
import type { ChainHandler } from '../event.ts';
import { type BlockHeader, calls, getBlock, parseHeader } from '../rpc/actions.ts';
import {
  boundTo,
  type Rpc,
  RpcAnswerInvalid,
  RpcError,
  type RpcOutcome,
  RpcUnavailable,
  resultOf,
} from '../rpc/rpc.ts';
import { backfill } from './backfill.ts';
import { checkHeaders, eachWithEvents, fetchHeaders } from './block-source.ts';
import { appendBlocks, beginChain, CursorMoved, removeHead } from './chain-move.ts';
import { type ChainCursor, findCursor } from './cursor.ts';
import { advanceFinal, haltIfFinalForked } from './finality.ts';
import { type Candidate, type Leadership, leadershipOf } from './leader.ts';
import { watchedContracts } from './log-check.ts';
import { pauseBetween } from './pause.ts';
import { resync } from './resync.ts';
import type { WatcherState } from './state.ts';

export interface WatcherOptions {
  readonly chain: Chain;
  readonly rpc: Rpc;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly handler: ChainHandler;
  readonly signal: AbortSignal;
  /** By what name this process leads; alone where absent. */
  readonly candidate?: Candidate;
  /** Resolves when there may be a new head; cuts the wait for the next poll short. Must not reject. */
  readonly wake?: (signal: AbortSignal) => Promise<void>;
}

/** What a round found: nothing new, more to fetch at once, or a chain whose breaker has tripped. */
export type RoundResult = 'idle' | 'behind' | 'halted';

const maxBatchSize = 100;
/** Batches between two looks at finality, while far behind. */
const batchesPerRound = 5;
const maxBackOffMs = 15_000;
const haltedPollMs = 1_000;
/** How often a process that does not lead looks whether it does by now. */
const standByMs = 200;
/**
 * Follows one chain until the signal aborts: appends block after block to the stored chain, takes reorged ones back, and
 * moves the final anchor. It never skips a block: an answer that does not hold together is asked for again. Of several
 * watchers of one chain one leads, and the others wait for its end; each move is a compare-and-set besides.
 */
export async function runWatcher(options: WatcherOptions): Promise<void> {
  const { chain, clock, db, log, signal, candidate = alone } = options;
  const state = watcherState({ ...options, rpc: boundTo(options.rpc, signal) });
  const leadership = leadershipOf({ chainId: chain.chainId, candidate, db, clock, log });
  const leading = leadership.run(signal);
  const pause = pauseBetween({ clock, signal, wake: options.wake, pollIntervalMs: chain.pollIntervalMs });
  let failures = 0;
  while (!signal.aborted) {
    try {
      const result = await roundAsLeader(state, leadership);
      failures = 0;
      if (state.hasMoved) pause.noteNews();
      if (result === 'idle') await pause.rest();
      if (result === 'halted') await clock.sleep(Math.max(haltedPollMs, chain.pollIntervalMs), signal);
      if (result === 'standing_by') await clock.sleep(standByMs, signal);
    } catch (error) {
      if (signal.aborted) break;
      failures += 1;
      state.batchSize = Math.max(1, state.batchSize >> 1);
      noteFailure(state, log, error, failures);
      await clock.sleep(
        Math.min(maxBackOffMs, chain.pollIntervalMs * 2 ** Math.min(failures - 1, 10)),
        signal,
      );
    }
  }
  await leading;
}

const alone: Candidate = { id: 'unnamed', isGone: () => false };

async function roundAsLeader(
  state: WatcherState,
  leadership: Leadership,
): Promise<RoundResult | 'standing_by'> {
  if (leadership.term() === undefined) {
    // Only a chain that has begun can be led; to begin it twice changes nothing.
    if ((await findCursor(state.db, state.chain.chainId)) === undefined) await begin(state);
    await leadership.look();
  }
  state.term = leadership.term();
  if (state.term === undefined) {
    state.hasMoved = false;
    return 'standing_by';
  }
  const result = await watchRound(state);
  // Whoever moved the cursor may be the new leader: this process may just have woken from a long pause.
  if (state.isContested) await leadership.look();
  return result;
}

export function watcherState(options: Omit<WatcherOptions, 'signal' | 'wake'>): WatcherState {
  return {
    chain: options.chain,
    rpc: options.rpc,
    db: options.db,
    clock: options.clock,
    log: options.log,
    handler: options.handler,
    watched: watchedContracts(options.chain),
    hasMoved: false,
    batchSize: maxBatchSize,
    prunedNumber: 0n,
    term: undefined,
    isContested: false,
    wentBackAtMs: undefined,
    acceptedFinal: undefined,
    quorumMissedAtMs: Number.NEGATIVE_INFINITY,
    backfillFailures: 0,
    backfillAtMs: Number.NEGATIVE_INFINITY,
  };
}

function noteFailure(state: WatcherState, log: Log, error: unknown, failures: number): void {
  const chainId = state.chain.chainId;
  if (error instanceof RpcAnswerInvalid || error instanceof RpcError) state.rpc.demote?.(error.message);
  // The first ones, then ever fewer: an outage must not fill the log.
  if (failures > 3 && failures % 20 !== 0) return;
  if (error instanceof RpcUnavailable || error instanceof RpcError) {
    log.warn('watcher.rpc_failed', { chainId, failures, reason: error.message });
  } else {
    log.error('watcher.failed', error, { chainId, failures });
  }
}

/** One look at the chain. Throws when nodes or the database fail; the next round begins again from the stored cursor. */
export async function watchRound(state: WatcherState): Promise<RoundResult> {
  try {
    state.hasMoved = false;
    const cursor = (await findCursor(state.db, state.chain.chainId)) ?? (await begin(state));
    state.isContested = false;
    if (cursor.isResyncDue) {
      await resync(state, cursor);
      return 'behind';
    }
    if (cursor.haltedReason !== '') return 'halted';
    const { head, tagged } = await readHeads(state);
    const followed = await follow(state, cursor, head);
    if (followed === undefined) return 'halted';
    const final = tagged === undefined ? followed : await advanceFinal(state, followed, head, tagged);
    if (final === undefined) return 'halted';
    const next = state.clock.monotonicMs() < state.backfillAtMs ? undefined : cursor.backfillNext;
    state.hasMoved = followed !== cursor && next === undefined;
    if (next !== undefined && (await backfillSome(state, next))) return 'behind';
    return followed.headNumber < head.number ? 'behind' : 'idle';
  } catch (error) {
    if (!(error instanceof CursorMoved)) throw error;
    state.isContested = true;
    return 'behind';
  }
}

const firstBackfillPauseMs = 1_000;
const longestBackfillPauseMs = 15 * 60_000;

/**
 * False when nodes lack the old blocks, or lie about them: that must not keep the chain from being followed. It is tried
 * again, ever less often.
 */
async function backfillSome(state: WatcherState, from: bigint): Promise<boolean> {
  const cursor = await findCursor(state.db, state.chain.chainId);
  if (cursor === undefined) return false;
  try {
    await backfill(state, cursor, from);
    state.backfillFailures = 0;
    return true;
  } catch (error) {
    if (!(error instanceof RpcUnavailable || error instanceof RpcError)) throw error;
    if (error instanceof RpcAnswerInvalid || error instanceof RpcError) state.rpc.demote?.(error.message);
    const pauseMs = firstBackfillPauseMs * 2 ** Math.min(state.backfillFailures, 20);
    state.backfillFailures += 1;
    state.backfillAtMs = state.clock.monotonicMs() + Math.min(longestBackfillPauseMs, pauseMs);
    state.log.warn('watcher.backfill_failed', {
      chainId: state.chain.chainId,
      block: from.toString(),
      reason: error.message,
    });
    return false;
  }
}

async function begin(state: WatcherState): Promise<ChainCursor> {
  const { startBlock } = state.chain;
  const header = await getBlock(state.rpc, startBlock > 0n ? startBlock - 1n : 0n);
  if (header === undefined)
    throw new RpcUnavailable('the chain has not reached the block where watching begins');
  return beginChain(state, header);
}

/** What a node says of its chain. */
interface Heads {
  readonly head: BlockHeader;
  readonly tagged: BlockHeader | undefined;
}

async function readHeads(state: WatcherState): Promise<Heads> {
  const { tag } = state.chain.finality;
  const wanted = tag === 'latest' ? [calls.block('latest')] : [calls.block('latest'), calls.block(tag)];
  const outcomes = await state.rpc.batch(wanted);
  const head = parseHeader(resultOf(outcomes[0]));
  if (head === undefined) throw new RpcAnswerInvalid('a node without a latest block');
  return { head, tagged: tag === 'latest' ? head : taggedHeader(state, outcomes[1]) };
}

/** A young chain has no safe or finalized block yet; some nodes then answer with an error rather than null. */
function taggedHeader(state: WatcherState, outcome: RpcOutcome | undefined): BlockHeader | undefined {
  if (outcome === undefined || 'result' in outcome) return parseHeader(resultOf(outcome));
  state.log.warn('watcher.no_final_tag', { chainId: state.chain.chainId, reason: outcome.error.message });
  return undefined;
}

/** Brings the stored chain up to the node's head, some batches at most; undefined when the breaker has tripped. */
async function follow(
  state: WatcherState,
  cursor: ChainCursor,
  head: BlockHeader,
): Promise<ChainCursor | undefined> {
  // A shorter chain than ours is a node that lags, or a fork that may still lose: wait until it is as long.
  if (head.number < cursor.headNumber || head.hash === cursor.headHash) return cursor;
  if (head.number === cursor.headNumber) return takeBack(state, cursor);
  let current = cursor;
  for (let batch = 0; batch < batchesPerRound && current.headNumber < head.number; batch += 1) {
    const isNext = head.number === current.headNumber + 1n;
    const count = Math.min(state.batchSize, Number(head.number - current.headNumber));
    const headers = isNext
      ? [head]
      : await fetchHeaders(state.rpc, state.watched, current.headNumber + 1n, count);
    if (isNext) await checkHeaders(state.rpc, state.watched, headers);
    const first = headers[0];
    if (first === undefined) throw new RpcAnswerInvalid('a node that lacks blocks below its head');
    if (first.parentHash !== current.headHash) return takeBack(state, current);
    await eachWithEvents(state.rpc, state.watched, headers, async (blocks) => {
      current = await appendBlocks(state, current, blocks);
    });
    state.batchSize = Math.min(maxBatchSize, state.batchSize * 2);
  }
  return current;
}

/** Walks back to the last block that the node has as well; undefined when that would undo a final block. */
async function takeBack(state: WatcherState, cursor: ChainCursor): Promise<ChainCursor | undefined> {
  if (await haltIfFinalForked(state, cursor)) return undefined;
  let current = cursor;
  while (current.headNumber > current.finalNumber) {
    const theirs = await getBlock(state.rpc, current.headNumber);
    if (theirs === undefined) throw new RpcAnswerInvalid('a node that lacks blocks below its head');
    if (theirs.hash === current.headHash) break;
    current = await removeHead(state, current);
  }
  state.log.warn('chain.reorged', {
    chainId: state.chain.chainId,
    depth: Number(cursor.headNumber - current.headNumber),
    fromBlock: cursor.headNumber.toString(),
  });
  return current;
}
