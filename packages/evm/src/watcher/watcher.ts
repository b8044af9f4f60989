import { type BlockHeader, calls, getBlock, parseHeader } from '../nodes/actions.ts';
import {
  boundTo,
  RpcAnswerInvalid,
  RpcError,
  type RpcOutcome,
  RpcUnavailable,
  resultOf,
} from '../nodes/rpc.ts';
import { checkHeaders, eachWithEvents, fetchHeaders } from './block-source.ts';
import type { FollowedChain } from './chain.ts';
import { appendBlocks, beginChain, CursorChanged, removeHead } from './chain-move.ts';
import type { Watcher } from './context.ts';
import { type ChainCursor, findCursor } from './cursor.ts';
import type { FollowedEvent } from './event.ts';
import { advanceFinal, haltIfFinalForked } from './finality.ts';
import { type Candidate, type Leadership, leadershipOf } from './leader.ts';
import { pauseBetween } from './pause.ts';
import { backfill, resync } from './recovery.ts';
import { freshState, isHalted, maxBatchSize, type Round, type WatcherState } from './state.ts';

export interface WatcherOptions<Chain extends FollowedChain, Event extends FollowedEvent>
  extends Watcher<Chain, Event> {
  readonly signal: AbortSignal;
  /** The name under which this process leads; without one it runs alone. */
  readonly candidate?: Candidate;
  /** Resolves when there may be a new head, which ends the wait for the next poll. Must not reject. */
  readonly wake?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** Batches between two checks of finality while the watcher is far behind. */
const batchesPerRound = 5;
const maxBackOffMs = 15_000;
const haltedPollMs = 1_000;
/** How often a standby process checks whether it leads. */
const standByMs = 200;
const alone: Candidate = { id: 'unnamed', isGone: () => false };

/**
 * Follows one chain until the signal aborts. It appends each block to the stored chain, removes reorged ones, and
 * moves the final anchor. It never skips a block: it asks again after a contradictory answer. One of several watchers
 * of a chain leads; the others wait for its end. Each move is also a compare-and-set.
 */
export async function runWatcher<Chain extends FollowedChain, Event extends FollowedEvent>(
  options: WatcherOptions<Chain, Event>,
): Promise<void> {
  const { chain, clock, db, log, signal, candidate = alone } = options;
  const watcher: Watcher = { ...options, rpc: boundTo(options.rpc, signal) };
  const leadership = leadershipOf({ chainId: chain.chainId, candidate, db, clock, log });
  const leading = leadership.run(signal);
  const pause = pauseBetween({ clock, signal, wake: options.wake, pollIntervalMs: chain.pollIntervalMs });
  let state = freshState;
  let failures = 0;
  while (!signal.aborted) {
    try {
      const term = await leadingTerm(watcher, leadership);
      if (term !== undefined) state = await watchRound({ ...watcher, term }, state);
      failures = 0;
      if (term === undefined) {
        await clock.sleep(standByMs, signal);
        continue;
      }
      if (state.hasMoved) pause.noteNews();
      // A process that was paused may have lost the leadership to the process that moved the chain.
      if (state.found === 'contested') await leadership.check();
      if (state.found === 'idle') await pause.rest();
      if (state.found === 'halted') await clock.sleep(Math.max(haltedPollMs, chain.pollIntervalMs), signal);
    } catch (error) {
      if (signal.aborted) break;
      failures += 1;
      state = { ...state, batchSize: Math.max(1, state.batchSize >> 1) };
      noteFailure(watcher, error, failures);
      await clock.sleep(
        Math.min(maxBackOffMs, chain.pollIntervalMs * 2 ** Math.min(failures - 1, 10)),
        signal,
      );
    }
  }
  await leading;
}

/** The term in which this process leads; undefined while another process leads. */
async function leadingTerm(watcher: Watcher, leadership: Leadership): Promise<bigint | undefined> {
  if (leadership.term() === undefined) {
    // Leadership needs a cursor; beginning a chain twice changes nothing.
    if ((await findCursor(watcher.db, watcher.chain.chainId)) === undefined) await begin(watcher);
    await leadership.check();
  }
  return leadership.term();
}

function noteFailure({ chain, rpc, log }: Watcher, error: unknown, failures: number): void {
  const { chainId } = chain;
  if (error instanceof RpcAnswerInvalid || error instanceof RpcError) rpc.demote?.(error.message);
  // Only the first failures and every twentieth are logged: an outage must not fill the log.
  if (failures > 3 && failures % 20 !== 0) return;
  if (error instanceof RpcUnavailable || error instanceof RpcError) {
    log.warn('watcher.rpc_failed', { chainId, failures, reason: error.message });
  } else {
    log.error('watcher.failed', error, { chainId, failures });
  }
}

/**
 * One round: loads the cursor, reads a node's heads, follows the head, moves the final anchor, and reads blocks again
 * on request. Each step stores its work and returns the next state. Throws when nodes or the database fail. The next
 * round then begins from the stored cursor.
 */
export async function watchRound(watcher: Watcher, before: WatcherState): Promise<WatcherState> {
  try {
    const stored = (await findCursor(watcher.db, watcher.chain.chainId)) ?? (await begin(watcher));
    let round: Round = { ...before, cursor: stored, found: 'behind', hasMoved: false };
    if (stored.isResyncDue) return await resync(watcher, round);
    if (isHalted(round)) return { ...round, found: 'halted' };

    const { head, tagged } = await readHeads(watcher);
    round = await followHead(watcher, round, head);
    if (tagged !== undefined && !isHalted(round))
      round = await advanceFinal(watcher, round, { head, tagged });
    if (isHalted(round)) return { ...round, found: 'halted' };

    round = { ...round, hasMoved: round.cursor.headHash !== stored.headHash };
    const isBackfillDue =
      round.cursor.backfillNext !== undefined && watcher.clock.monotonicMs() >= round.backfillAtMs;
    if (isBackfillDue) {
      round = await backfillSome(watcher, round);
      if (round.backfillFailures === 0) return round;
    }
    return { ...round, found: round.cursor.headNumber < head.number ? 'behind' : 'idle' };
  } catch (error) {
    if (!(error instanceof CursorChanged)) throw error;
    return { ...before, found: 'contested', hasMoved: false };
  }
}

async function begin(watcher: Watcher): Promise<ChainCursor> {
  const { startBlock } = watcher.chain;
  const header = await getBlock(watcher.rpc, startBlock > 0n ? startBlock - 1n : 0n);
  if (header === undefined)
    throw new RpcUnavailable('the chain has not reached the block where watching begins');
  return beginChain(watcher, header);
}

/** Reads one node's newest block and the one that it calls final. */
async function readHeads(
  watcher: Watcher,
): Promise<{ readonly head: BlockHeader; readonly tagged: BlockHeader | undefined }> {
  const { tag } = watcher.chain.finality;
  const wanted = tag === 'latest' ? [calls.block('latest')] : [calls.block('latest'), calls.block(tag)];
  const outcomes = await watcher.rpc.batch(wanted);
  const head = parseHeader(resultOf(outcomes[0]));
  if (head === undefined) throw new RpcAnswerInvalid('a node without a latest block');
  return { head, tagged: tag === 'latest' ? head : taggedHeader(watcher, outcomes[1]) };
}

/** A young chain has no safe or finalized block yet. Some nodes then answer with an error rather than null. */
function taggedHeader({ log, chain }: Watcher, outcome: RpcOutcome | undefined): BlockHeader | undefined {
  if (outcome === undefined || 'result' in outcome) return parseHeader(resultOf(outcome));
  log.warn('watcher.no_final_tag', { chainId: chain.chainId, reason: outcome.error.message });
  return undefined;
}

/** Brings the stored chain up to the node's head, some batches at most. */
async function followHead(watcher: Watcher, before: Round, head: BlockHeader): Promise<Round> {
  let round = before;
  // A shorter chain than ours comes from a lagging node or from a fork that may still lose: wait until it is as long
  // as ours.
  if (head.number < round.cursor.headNumber || head.hash === round.cursor.headHash) return round;
  if (head.number === round.cursor.headNumber) return takeBack(watcher, round);
  for (let batch = 0; batch < batchesPerRound && round.cursor.headNumber < head.number; batch += 1) {
    const next = round.cursor.headNumber + 1n;
    const count = Math.min(round.batchSize, Number(head.number - round.cursor.headNumber));
    const headers = head.number === next ? [head] : await fetchHeaders(watcher, next, count);
    if (head.number === next) await checkHeaders(watcher, headers);
    const first = headers[0];
    if (first === undefined) throw new RpcAnswerInvalid('a node that lacks blocks below its head');
    if (first.parentHash !== round.cursor.headHash) return takeBack(watcher, round);
    await eachWithEvents(watcher, headers, async (blocks) => {
      round = { ...round, cursor: await appendBlocks(watcher, round.cursor, blocks) };
    });
    round = { ...round, batchSize: Math.min(maxBatchSize, round.batchSize * 2) };
  }
  return round;
}

/** Walks back to the last block that the node also has. Halts the chain where that would revert a final block. */
async function takeBack(watcher: Watcher, before: Round): Promise<Round> {
  let round = await haltIfFinalForked(watcher, before);
  if (isHalted(round)) return round;
  while (round.cursor.headNumber > round.cursor.finalNumber) {
    const theirs = await getBlock(watcher.rpc, round.cursor.headNumber);
    if (theirs === undefined) throw new RpcAnswerInvalid('a node that lacks blocks below its head');
    if (theirs.hash === round.cursor.headHash) break;
    round = { ...round, cursor: await removeHead(watcher, round.cursor) };
  }
  watcher.log.warn('chain.reorged', {
    chainId: watcher.chain.chainId,
    depth: Number(before.cursor.headNumber - round.cursor.headNumber),
    fromBlock: before.cursor.headNumber.toString(),
  });
  return round;
}

const firstBackfillPauseMs = 1_000;
const longestBackfillPauseMs = 15 * 60_000;

/**
 * Reads some final blocks again. Nodes that lack the old blocks, or lie about them, must not stop the watcher: it
 * retries with backoff.
 */
async function backfillSome(watcher: Watcher, round: Round): Promise<Round> {
  const { chain, clock, log, rpc } = watcher;
  try {
    await backfill(watcher, round.cursor);
    return { ...round, backfillFailures: 0 };
  } catch (error) {
    if (!(error instanceof RpcUnavailable || error instanceof RpcError)) throw error;
    if (error instanceof RpcAnswerInvalid || error instanceof RpcError) rpc.demote?.(error.message);
    const pauseMs = Math.min(
      longestBackfillPauseMs,
      firstBackfillPauseMs * 2 ** Math.min(round.backfillFailures, 20),
    );
    const block = round.cursor.backfillNext?.toString() ?? '';
    log.warn('watcher.backfill_failed', { chainId: chain.chainId, block, reason: error.message });
    return {
      ...round,
      backfillFailures: round.backfillFailures + 1,
      backfillAtMs: clock.monotonicMs() + pauseMs,
    };
  }
}
