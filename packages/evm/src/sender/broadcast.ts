import { BatchOverload, batchedByKey } from '@florin/pg';
import type { Hex } from 'viem';
import { calls } from '../nodes/actions.ts';
import { type Rpc, type RpcError, RpcUnavailable } from '../nodes/rpc.ts';
import type { SenderContext } from './context.ts';
import { findPendingById, newestAttempt, type PendingTransaction } from './store.ts';

/** A signed transaction and the id of its row. */
export interface SignedTransaction {
  readonly transactionId: bigint;
  readonly txHash: Hex;
  readonly raw: Hex;
}

/** Answers of nodes about a transaction that they already have or that is mined. There is no standard. */
const harmless =
  /already known|known transaction|already imported|already exists|already in mempool|nonce.{0,20}too low|too low nonce|nonce has already been used|replacement transaction underpriced|could not replace existing/i;

/** The most transactions sent to a node at once. */
const batchLimit = 100;

/**
 * Broadcasts signed transactions in order. A node's refusal is logged, and a later round tries again: only blocks say whether
 * a transaction is mined. Throws `RpcUnavailable` when no node answers.
 */
export async function broadcastSigned(
  context: SenderContext,
  chainId: number,
  rpc: Rpc,
  signed: readonly SignedTransaction[],
): Promise<void> {
  for (let start = 0; start < signed.length; start += batchLimit) {
    const batch = signed.slice(start, start + batchLimit);
    const outcomes = await rpc.batch(batch.map(({ raw }) => calls.sendRaw(raw)));
    for (const [index, outcome] of outcomes.entries()) {
      const item = batch[index];
      if (item !== undefined && 'error' in outcome) noteRefusal(context, chainId, item, outcome.error);
    }
  }
}

function noteRefusal(
  context: SenderContext,
  chainId: number,
  item: SignedTransaction,
  error: RpcError,
): void {
  if (harmless.test(error.message)) return;
  context.log.warn('sender.refused_by_node', {
    chainId,
    transactionId: item.transactionId.toString(),
    txHash: item.txHash,
    reason: error.message.slice(0, 300),
  });
}

/** Per chain: transactions that arrive during a broadcast are sent together after it. */
const broadcastLimits = { maxSize: batchLimit, maxInFlight: 1, maxWaiting: 1_000 };

/**
 * Makes the function that broadcasts recorded transactions by id. Simultaneous ones are sent in the order of their
 * nonces: nodes may drop a transaction that arrives before its predecessor.
 */
export function broadcaster(context: SenderContext): (transactionId: bigint) => Promise<void> {
  const add = batchedByKey<PendingTransaction, undefined>(
    (chainId) => async (pending) => {
      await broadcastPending(context, Number(chainId), pending);
      return pending.map(() => undefined);
    },
    broadcastLimits,
  );
  return async (transactionId) => {
    const pending = await findPendingById(context.db, transactionId);
    if (pending === undefined) return;
    try {
      await add(String(pending.chainId), pending);
    } catch (error) {
      if (!(error instanceof BatchOverload)) throw error;
      noteNotBroadcast(context, [pending], error);
    }
  };
}

async function broadcastPending(
  context: SenderContext,
  chainId: number,
  pending: readonly PendingTransaction[],
): Promise<void> {
  const byNonce = pending.toSorted((first, second) => Number(first.nonce - second.nonce));
  const signed = byNonce.map((each) => {
    const { txHash, raw } = newestAttempt(each);
    return { transactionId: each.transactionId, txHash, raw };
  });
  try {
    await broadcastSigned(context, chainId, context.rpcOf(chainId), signed);
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error;
    noteNotBroadcast(context, pending, error);
  }
}

function noteNotBroadcast(
  { log }: SenderContext,
  pending: readonly PendingTransaction[],
  { message: reason }: Error,
): void {
  for (const { chainId, transactionId } of pending)
    log.warn('sender.not_broadcast', { chainId, transactionId: transactionId.toString(), reason });
}
