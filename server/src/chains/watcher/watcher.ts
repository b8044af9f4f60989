import type { Database } from '#db/database.ts';
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
import { fetchBlocks, withEvents } from './block-source.ts';
import { appendBlocks, beginChain, CursorMoved, type MoveContext, removeHead } from './chain-move.ts';
import { type ChainCursor, findCursor } from './cursor.ts';
import { advanceFinal, haltIfFinalForked } from './finality.ts';
import { type WatchedContracts, watchedContracts } from './log-check.ts';

export interface WatcherOptions {
  readonly chain: Chain;
  readonly rpc: Rpc;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly handler: ChainHandler;
  readonly signal: AbortSignal;
  /** Resolves when there may be a new head; cuts the wait for the next poll short. Must not reject. */
  readonly wake?: (signal: AbortSignal) => Promise<void>;
}

/** What a round found: nothing new, more to fetch at once, or a chain whose breaker has tripped. */
export type RoundResult = 'idle' | 'behind' | 'halted';

/** Everything a round needs, and the little it remembers. Losing it costs a few requests. */
export interface WatcherState extends MoveContext {
  readonly rpc: Rpc;
  readonly watched: WatchedContracts;
  /** Blocks asked for at once: halved by each failure, for nodes that bear less. */
  batchSize: number;
  prunedNumber: bigint;
}

const maxBatchSize = 100;
/** Batches between two looks at finality, while far behind. */
const batchesPerRound = 5;
const maxBackOffMs = 15_000;
const haltedPollMs = 1_000;

/**
 * Follows one chain until the signal aborts: appends block after block to the stored chain, takes reorged ones back, and
 * moves the final anchor. It never skips a block: an answer that does not hold together is asked for again. Several
 * watchers of one chain may run at once; each move is a compare-and-set.
 */
export async function runWatcher(options: WatcherOptions): Promise<void> {
  const { chain, clock, log, signal } = options;
  const state = watcherState({ ...options, rpc: boundTo(options.rpc, signal) });
  let failures = 0;
  while (!signal.aborted) {
    try {
      const result = await watchRound(state);
      failures = 0;
      if (result === 'idle') await pause(options, chain.pollIntervalMs);
      if (result === 'halted') await clock.sleep(Math.max(haltedPollMs, chain.pollIntervalMs), signal);
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
    batchSize: maxBatchSize,
    prunedNumber: 0n,
  };
}

async function pause(options: WatcherOptions, ms: number): Promise<void> {
  const { clock, signal, wake } = options;
  if (wake === undefined) return clock.sleep(ms, signal);
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  await Promise.race([clock.sleep(ms, either), wake(either)]);
  ended.abort();
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
    const stored = await findCursor(state.db, state.chain.chainId);
    const cursor = stored ?? (await begin(state));
    if (cursor.haltedReason !== '') return 'halted';
    const { head, tagged } = await readHeads(state);
    const followed = await follow(state, cursor, head);
    if (followed === undefined) return 'halted';
    if (tagged !== undefined && !(await advanceFinal(state, followed, head, tagged))) return 'halted';
    return followed.headNumber < head.number ? 'behind' : 'idle';
  } catch (error) {
    if (error instanceof CursorMoved) return 'behind';
    throw error;
  }
}

async function begin(state: WatcherState): Promise<ChainCursor> {
  const { startBlock } = state.chain;
  const header = await getBlock(state.rpc, startBlock > 0n ? startBlock - 1n : 0n);
  if (header === undefined)
    throw new RpcUnavailable('the chain has not reached the block where watching begins');
  return beginChain(state, header);
}

async function readHeads(
  state: WatcherState,
): Promise<{ head: BlockHeader; tagged: BlockHeader | undefined }> {
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
    const blocks = isNext
      ? await withEvents(state.rpc, state.watched, [head])
      : await fetchBlocks(state.rpc, state.watched, current.headNumber + 1n, count);
    const first = blocks[0];
    if (first === undefined) throw new RpcAnswerInvalid('a node that lacks blocks below its head');
    if (first.header.parentHash !== current.headHash) return takeBack(state, current);
    current = await appendBlocks(state, current, blocks);
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
