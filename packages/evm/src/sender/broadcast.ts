import { BatchOverload, batchedByKey } from '@florin/pg';
import type { Hex } from 'viem';
import { calls } from '../nodes/actions.ts';
import { type Rpc, type RpcOutcome, RpcUnavailable } from '../nodes/rpc.ts';
import type { SenderContext } from './context.ts';
import { setRefusals } from './sender.sql.ts';
import { findPendingById, newestAttempt, type PendingTransaction } from './store.ts';

/** A signed transaction and the id of its row. */
export interface SignedTransaction {
  readonly transactionId: bigint;
  readonly txHash: Hex;
  readonly raw: Hex;
  /** The refusal that is stored; see `Attempt`. */
  readonly refusal: string;
}

/** Answers of nodes about a transaction that they already have or that is mined. There is no standard. */
const harmless =
  /already known|known transaction|already imported|already exists|already in mempool|nonce.{0,20}too low|too low nonce|nonce has already been used|replacement transaction underpriced|could not replace existing/i;

/** Refusals for a fee below the block's base fee or the node's minimum. A higher fee is accepted. */
const forFee =
  /less than block base fee|underpriced|(?:fee|gas price|tip).{0,40}(?:too low|below|less than)|baseFee.{0,20}exceeds/i;

/** Whether nodes refused an attempt because it offers too little. */
export function isRefusedForFee({ refusal }: Pick<SignedTransaction, 'refusal'>): boolean {
  return forFee.test(refusal);
}

const maxRefusalLength = 300;

/** The most transactions sent to a node at once. */
const batchLimit = 100;

/**
 * Broadcasts signed transactions in order. What the preferred node refuses is offered to the others. A refusal by all is
 * stored, and a later round tries again: only blocks say whether a transaction is mined. Throws `RpcUnavailable` when no node answers.
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
    const first = batch.map((item, index) => ({ item, refusal: refusalIn(outcomes[index]) }));
    await noteRefusals(context, chainId, await askOthers(rpc, first));
  }
}

interface Offered {
  readonly item: SignedTransaction;
  /** Empty: a node has it. */
  readonly refusal: string;
}

function refusalIn(outcome: RpcOutcome | undefined): string {
  if (outcome === undefined || !('error' in outcome) || harmless.test(outcome.error.message)) return '';
  return outcome.error.message.slice(0, maxRefusalLength) || 'no reason given';
}

/** Offers what one node refused to each node: nodes have limits of their own. */
async function askOthers(rpc: Rpc, offered: readonly Offered[]): Promise<readonly Offered[]> {
  const refused = offered.filter(({ refusal }) => refusal !== '');
  if (refused.length === 0 || rpc.askEach === undefined) return offered;
  const answers = await rpc.askEach(refused.map(({ item }) => calls.sendRaw(item.raw)));
  const taken = new Set(
    refused.flatMap(({ item }, index) =>
      answers.some(({ outcomes }) => outcomes[index] !== undefined && refusalIn(outcomes[index]) === '')
        ? [item.txHash]
        : [],
    ),
  );
  return offered.map((each) => (taken.has(each.item.txHash) ? { ...each, refusal: '' } : each));
}

/** Stores and logs what is new: a reason that differs in its numbers alone is not. */
async function noteRefusals(
  { db, log }: SenderContext,
  chainId: number,
  offered: readonly Offered[],
): Promise<void> {
  const changed = offered.filter(({ item, refusal }) => kindOf(refusal) !== kindOf(item.refusal));
  if (changed.length === 0) return;
  await db.query(setRefusals, {
    txHashes: changed.map(({ item }) => item.txHash),
    refusals: changed.map(({ refusal }) => refusal),
  });
  for (const { item, refusal } of changed) {
    const fields = { chainId, transactionId: item.transactionId.toString(), txHash: item.txHash };
    if (refusal === '') log.info('sender.taken_by_node', fields);
    else log.warn('sender.refused_by_node', { ...fields, reason: refusal });
  }
}

function kindOf(refusal: string): string {
  return refusal.replaceAll(/0x[0-9a-f]+|\d+/gi, '#');
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
    const { txHash, raw, refusal } = newestAttempt(each);
    return { transactionId: each.transactionId, txHash, raw, refusal };
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
