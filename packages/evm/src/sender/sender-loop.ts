import { calls, parseHeader } from '../nodes/actions.ts';
import { parseQuantity } from '../nodes/parse.ts';
import { boundTo, type Rpc, RpcAnswerInvalid, RpcError, RpcUnavailable, resultOf } from '../nodes/rpc.ts';
import type { FollowedChain } from '../watcher/chain.ts';
import { findCursor } from '../watcher/cursor.ts';
import { broadcastSigned, isRefusedForFee } from './broadcast.ts';
import { finalTransactionCount, type SenderContext } from './context.ts';
import type { FeeMarket } from './fees.ts';
import { locate, type Mined, noteMined, noteUnmined } from './follow.ts';
import { feeMarketCall, readFeeMarket } from './plan.ts';
import { fillNonceGaps, replace, supersede, type Waiting } from './repair.ts';
import { setCapped } from './sender.sql.ts';
import { type Attempt, findPending, newestAttempt, type PendingTransaction } from './store.ts';

/** State of one chain's loop between rounds. Losing it costs some needless broadcasts. */
export interface LoopState {
  /** When each transaction was last broadcast, on the monotonic clock. */
  readonly sentAtMs: Map<bigint, number>;
  /** Transactions that seemed superseded in the last round. */
  suspects: ReadonlySet<bigint>;
  /** Transactions that wait because they get no higher fee, and why. The log shows when that begins and ends. */
  stuck: ReadonlyMap<bigint, Waiting['why']>;
}

export function newLoopState(): LoopState {
  return { sentAtMs: new Map(), suspects: new Set(), stuck: new Map() };
}

/** The wallet at the head of the chain. */
interface WalletState {
  /** The next nonce at the head: smaller ones are used. */
  readonly nextNonce: bigint;
  /** The height of the node that answered. */
  readonly headNumber: bigint;
  readonly market: FeeMarket;
}

/** The most pending transactions followed at once, by nonce. Later ones cannot be mined before them. */
const pendingLimit = 500;
const maxBackOffMs = 15_000;

/** Follows the wallet's pending transactions of one chain until the signal aborts. */
export async function runSenderLoop(
  context: SenderContext,
  chain: FollowedChain,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = context;
  const bound: SenderContext = { ...context, rpcOf: (chainId) => boundTo(context.rpcOf(chainId), signal) };
  const memory = newLoopState();
  let failures = 0;
  while (!signal.aborted) {
    try {
      await senderRound(bound, chain, memory);
      failures = 0;
      await clock.sleep(chain.pollIntervalMs, signal);
    } catch (error) {
      if (signal.aborted) break;
      failures += 1;
      noteFailure(context, chain, error, failures);
      await clock.sleep(
        Math.min(maxBackOffMs, chain.pollIntervalMs * 2 ** Math.min(failures - 1, 10)),
        signal,
      );
    }
  }
}

function noteFailure(context: SenderContext, chain: FollowedChain, error: unknown, failures: number): void {
  if (error instanceof RpcAnswerInvalid) context.rpcOf(chain.chainId).demote?.(error.message);
  // Only the first failures and every twentieth are logged: an outage must not fill the log.
  if (failures > 3 && failures % 20 !== 0) return;
  const fields = { chainId: chain.chainId, failures };
  if (error instanceof RpcUnavailable || error instanceof RpcError) {
    context.log.warn('sender.rpc_failed', { ...fields, reason: error.message });
  } else {
    context.log.error('sender.round_failed', error, fields);
  }
}

/**
 * Checks all pending transactions of a chain once. Those in final blocks are finished. Those in no block are
 * broadcast again, raised or given up. Nonce gaps are filled. The round computes everything from the tables, so a
 * crash at any line costs at most a repeated broadcast.
 */
export async function senderRound(
  context: SenderContext,
  chain: FollowedChain,
  memory: LoopState,
): Promise<void> {
  const cursor = await findCursor(context.db, chain.chainId);
  if (cursor === undefined || cursor.haltedReason !== '') {
    // Findings of the last round are void once the chain has been resumed.
    memory.suspects = new Set();
    return;
  }
  const key = { chainId: chain.chainId, wallet: context.wallet.address, limit: pendingLimit };
  const pending = await findPending(context.db, key);
  if (pending.length === 0) {
    noteStuck(context, memory, new Map());
    return;
  }
  const rpc = context.rpcOf(chain.chainId);
  const state = await readWallet(context, rpc);
  // A transaction above the next nonce cannot be in a block, so it is not looked up.
  const isAhead = (item: PendingTransaction) => item.nonce >= state.nextNonce && item.minedHash === '';
  const lookedUp = pending.filter((item) => !isAhead(item));
  const locations = await locate(context, rpc, { chain, cursor }, lookedUp);
  const unmined = state.headNumber >= cursor.headNumber ? pending.filter(isAhead) : [];
  const mined = lookedUp.flatMap((pending): Mined[] => {
    const location = locations.get(pending.transactionId);
    return location?.kind === 'mined' ? [{ pending, location }] : [];
  });
  await noteMined(context, cursor, mined);
  for (const item of lookedUp) {
    const location = locations.get(item.transactionId);
    if (location?.kind === 'unmined') {
      await noteUnmined(context, item);
      unmined.push(item);
    }
  }
  unmined.sort((first, second) => Number(first.nonce - second.nonce));
  await advanceUnmined(context, chain, rpc, { state, unmined, memory, rewinds: cursor.rewinds });
  await fillNonceGaps(context, chain, state.nextNonce, pending);
}

async function readWallet(context: SenderContext, rpc: Rpc): Promise<WalletState> {
  const { address } = context.wallet;
  const wanted = [calls.block('latest'), calls.transactionCount(address, 'latest'), feeMarketCall];
  const [head, count, history] = await rpc.batch(wanted);
  return {
    headNumber: parseHeader(resultOf(head))?.number ?? -1n,
    nextNonce: parseQuantity('transaction count', resultOf(count)),
    market: readFeeMarket(context, resultOf(history)),
  };
}

interface UnminedWork {
  readonly state: WalletState;
  readonly unmined: readonly PendingTransaction[];
  readonly memory: LoopState;
  /** The value of the cursor at the beginning of the round. */
  readonly rewinds: bigint;
}

async function advanceUnmined(
  context: SenderContext,
  chain: FollowedChain,
  rpc: Rpc,
  work: UnminedWork,
): Promise<void> {
  const { state, unmined, memory } = work;
  const suspects = new Set<bigint>();
  const replaced = new Set<bigint>();
  const passed = unmined.filter((item) => item.nonce < state.nextNonce);
  const finalCount = passed.length === 0 ? 0n : await finalTransactionCount(context, chain, rpc);
  for (const item of passed) {
    const isSuspect = memory.suspects.has(item.transactionId);
    if (await supersede(context, rpc, item, { finalCount, isSuspect, rewinds: work.rewinds }))
      suspects.add(item.transactionId);
  }
  memory.suspects = suspects;
  const stuck = new Map<bigint, Waiting>();
  for (const item of unmined) {
    if (!isOverdue(context, item, state)) continue;
    const result = await replace(context, item, state.market);
    if (result === 'replaced') replaced.add(item.transactionId);
    if (result === 'stuck' || result === 'changed') stuck.set(item.transactionId, { item, why: result });
  }
  noteStuck(context, memory, stuck);
  await storeStuck(context, unmined, stuck);
  await rebroadcast(context, chain, rpc, work, replaced);
}

/** Logs a stuck transaction once, not each round. */
function noteStuck({ log }: SenderContext, memory: LoopState, stuck: ReadonlyMap<bigint, Waiting>): void {
  for (const [id, { item, why }] of stuck) {
    if (memory.stuck.get(id) === why) continue;
    const { chainId, nonce, attempts } = item;
    const { txHash } = newestAttempt(item);
    if (why === 'stuck') log.warn('sender.stuck', { chainId, txHash, attempts: attempts.length });
    else {
      const error = new Error(
        'a stored transaction is not what its wallet has signed, and is not signed again',
      );
      const fields = { chainId, transactionId: id.toString(), nonce: nonce.toString(), txHash };
      log.error('sender.transaction_differs', error, fields);
    }
  }
  for (const id of memory.stuck.keys()) {
    if (!stuck.has(id)) log.info('sender.not_stuck_any_more', { transactionId: id.toString() });
  }
  memory.stuck = new Map([...stuck].map(([id, { why }]) => [id, why]));
}

/** Stores which transactions wait at the fee limit, where it has changed: every process shows them at once. */
async function storeStuck(
  { db }: SenderContext,
  unmined: readonly PendingTransaction[],
  stuck: ReadonlyMap<bigint, Waiting>,
): Promise<void> {
  const changed = unmined.filter((item) => newestAttempt(item).isCapped !== stuck.has(item.transactionId));
  if (changed.length === 0) return;
  await db.query(setCapped, {
    txHashes: changed.map((item) => newestAttempt(item).txHash),
    isCapped: changed.map((item) => stuck.has(item.transactionId)),
  });
}

/** Only the next nonce can be mined. If its fee is under the base fee, it is not mined and holds up the later ones. */
function isOverdue(context: SenderContext, item: PendingTransaction, state: WalletState): boolean {
  const newest = newestAttempt(item);
  if (item.nonce < state.nextNonce) return false;
  // No block can have what every node refused: to wait for one would lose time.
  if (!isRefusedForFee(newest) && ageMsOf(context, newest) < context.settings.replaceAfterMs) return false;
  return item.nonce === state.nextNonce || newest.maxFee < state.market.nextBaseFee;
}

function ageMsOf(context: SenderContext, attempt: Attempt): number {
  return context.clock.now().getTime() - attempt.createdAt.getTime();
}

/** Broadcasts unmined transactions that were not broadcast lately. */
async function rebroadcast(
  context: SenderContext,
  chain: FollowedChain,
  rpc: Rpc,
  { state, unmined, memory }: UnminedWork,
  replaced: ReadonlySet<bigint>,
): Promise<void> {
  const now = context.clock.monotonicMs();
  const { rebroadcastAfterMs } = context.settings;
  const due = unmined.filter((item) => {
    if (item.minedHash !== '' || replaced.has(item.transactionId)) return true;
    if (item.nonce < state.nextNonce) return false;
    const sentAtMs = memory.sentAtMs.get(item.transactionId);
    if (sentAtMs !== undefined) return now - sentAtMs >= rebroadcastAfterMs;
    // The caller that has just recorded it is about to broadcast it. A clock that is behind must not delay it.
    const ageMs = ageMsOf(context, newestAttempt(item));
    return ageMs < 0 || ageMs >= rebroadcastAfterMs;
  });
  const ids = new Set(unmined.map((item) => item.transactionId));
  for (const id of memory.sentAtMs.keys()) if (!ids.has(id)) memory.sentAtMs.delete(id);
  if (due.length === 0) return;
  const fresh = await findPending(context.db, {
    chainId: chain.chainId,
    wallet: context.wallet.address,
    limit: pendingLimit,
  });
  const dueIds = new Set(due.map((item) => item.transactionId));
  const signed = fresh
    .filter((item) => dueIds.has(item.transactionId))
    .flatMap((item) =>
      attemptsToSend(item, due).map((attempt) => ({ transactionId: item.transactionId, ...attempt })),
    );
  await broadcastSigned(context, chain.chainId, rpc, signed);
  for (const id of dueIds) memory.sentAtMs.set(id, now);
}

/** The newest attempt. Before it, the attempt that was reorged out: nodes may still prefer it. */
function attemptsToSend(item: PendingTransaction, due: readonly PendingTransaction[]): readonly Attempt[] {
  const lostHash = due.find((candidate) => candidate.transactionId === item.transactionId)?.minedHash;
  const newest = newestAttempt(item);
  const lost = item.attempts.filter((attempt) => attempt.txHash === lostHash && attempt !== newest);
  return [...lost, newest];
}
