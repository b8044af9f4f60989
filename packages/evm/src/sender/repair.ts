import { calls, parseTransactionReceipt } from '../nodes/actions.ts';
import { type Rpc, resultOf } from '../nodes/rpc.ts';
import type { FollowedChain } from '../watcher/chain.ts';
import { isRefusedForFee } from './broadcast.ts';
import type { SenderContext } from './context.ts';
import { type FeeMarket, isOutbid, raisedFees } from './fees.ts';
import { planTransaction } from './plan.ts';
import { noncesWithRow } from './sender.sql.ts';
import { outcomeOf } from './sent.machine.ts';
import { fillPurpose } from './sent.ts';
import { numberPlans, signAll } from './signing-queue.ts';
import {
  finishTransactions,
  lockPendingById,
  newestAttempt,
  type PendingTransaction,
  storeAttempt,
  storeTransactions,
} from './store.ts';

/** More replacements than this point to another fault, unless the base fee alone exceeds the offer. */
const maxAttempts = 20;
/** Most gaps filled in one round. */
const maxFills = 20;

/** A transaction that gets no higher offer, and why. */
export interface Waiting {
  readonly item: PendingTransaction;
  readonly why: 'stuck' | 'changed';
}

/**
 * Raises the fees of a transaction that the market has outbid, or that nodes refused for them, at the same nonce. replaced: a
 * new attempt is stored, to be broadcast. stuck: the limits allow no raise. changed: the database has changed what this wallet
 * signed, and it signs nothing. unchanged: the offer is high enough, or another process was first.
 */
export async function replace(
  context: SenderContext,
  pending: PendingTransaction,
  market: FeeMarket,
): Promise<'replaced' | Waiting['why'] | 'unchanged'> {
  const { chainId, transactionId } = pending;
  const last = newestAttempt(pending);
  if (!isOutbid(last, market) && !isRefusedForFee(last)) return 'unchanged';
  const fees = raisedFees(last, market, context.maxFeePerGas);
  const isUsedUp = pending.attempts.length >= maxAttempts && last.maxFee >= market.nextBaseFee;
  if (fees === undefined || isUsedUp) return 'stuck';
  return context.db.transaction(async (transaction) => {
    const locked = await lockPendingById(transaction, transactionId);
    // Another process has replaced or finished it meanwhile.
    if (locked === undefined || newestAttempt(locked).txHash !== last.txHash) return 'unchanged';
    const { nonce, to, data, gasLimit } = locked;
    const { maxFee, priorityFee, raw } = last;
    const signed = { chainId, nonce, to, data, gasLimit, maxFee, priorityFee };
    // A writer to the database can change these columns. The stored transaction shows what this wallet signed.
    if (!context.wallet.hasSigned(signed, raw)) return 'changed';
    const unsigned = { ...signed, ...fees };
    const txHash = await storeAttempt(
      transaction,
      context.wallet,
      transactionId,
      unsigned,
      context.clock.now(),
    );
    context.log.info('sender.replaced', { chainId, nonce: nonce.toString(), old: last.txHash, txHash });
    return 'replaced';
  });
}

/**
 * Finishes a transaction as superseded when a final block has used its nonce and none of its attempts has a receipt.
 * The caller has read `finalCount` before: a transaction of ours with that nonce would have a receipt by now. Two
 * consecutive rounds must agree (`isSuspect`: the last round found it). Returns true when this round found it.
 */
export async function supersede(
  context: SenderContext,
  rpc: Rpc,
  pending: PendingTransaction,
  found: { readonly finalCount: bigint; readonly isSuspect: boolean; readonly rewinds: bigint },
): Promise<boolean> {
  const { chainId, nonce, attempts } = pending;
  if (found.finalCount <= nonce) return false;
  const outcomes = await rpc.batch(attempts.map((attempt) => calls.receipt(attempt.txHash)));
  if (outcomes.some((outcome) => parseTransactionReceipt(resultOf(outcome)) !== undefined)) return false;
  if (!found.isSuspect) return true;
  const { txHash } = newestAttempt(pending);
  const outcome = {
    status: outcomeOf('nonce_taken'),
    ...{ txHash, blockNumber: undefined, blockTime: undefined },
  };
  const report = { at: context.clock.now(), onOutcome: context.onOutcome, rewinds: found.rewinds };
  const count = await context.db.transaction((transaction) =>
    finishTransactions(transaction, [{ pending, outcome }], report),
  );
  if (count > 0) context.log.warn('sender.superseded', { chainId, nonce: nonce.toString(), txHash });
  return true;
}

/**
 * Fills unused nonces between `nextNonce`, the wallet's next one at the head, and the highest pending one: a
 * transaction above such a gap can never be mined. Returns true when it stored transactions to be broadcast.
 */
export async function fillNonceGaps(
  context: SenderContext,
  chain: FollowedChain,
  nextNonce: bigint,
  pending: readonly PendingTransaction[],
): Promise<boolean> {
  const highest = pending.at(-1)?.nonce;
  if (highest === undefined || nextNonce >= highest) return false;
  const wallet = context.wallet.address.toLowerCase();
  const rows = await context.db.query(noncesWithRow, {
    chainId: chain.chainId,
    wallet,
    from: nextNonce,
    below: highest,
  });
  const taken = new Set(rows.map((row) => row.nonce));
  const gaps: bigint[] = [];
  for (let nonce = nextNonce; nonce < highest && gaps.length < maxFills; nonce += 1n) {
    if (!taken.has(nonce)) gaps.push(nonce);
  }
  if (gaps.length === 0) return false;
  const request = { purpose: fillPurpose, to: context.wallet.address, data: '0x' } as const;
  const plan = await planTransaction(context, chain.chainId, request);
  if ('reverted' in plan) throw new Error('a transfer of nothing to ourselves would revert');
  for (const nonce of gaps) {
    const at = context.clock.now();
    const placed = numberPlans([plan], nonce);
    const raws = await signAll(context.wallet, placed);
    await context.db.transaction((transaction) => storeTransactions(transaction, placed, raws, at));
    context.log.warn('sender.hole_filled', { chainId: chain.chainId, nonce: nonce.toString() });
  }
  return true;
}
