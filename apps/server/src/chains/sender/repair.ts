import { calls, parseReceipt, type Rpc, resultOf } from '@florin/evm';
import type { Chain } from '../chain.ts';
import type { SenderContext } from './context.ts';
import { type FeeMarket, isOutbid, raisedFees } from './fees.ts';
import { planTransaction } from './plan.ts';
import { noncesWithRow } from './sender.sql.ts';
import { outcomeOf } from './sent.machine.ts';
import { placedFrom, signAll } from './signing-queue.ts';
import {
  conclude,
  lockPendingById,
  newestAttempt,
  type PendingTransaction,
  storeAttempt,
  storeTransactions,
} from './store.ts';

/** More replacements than this mean that something else is wrong, unless the base fee alone is over the offer. */
const maxAttempts = 20;
/** Most holes filled in one round. */
const maxFills = 20;

/**
 * Offers more for a transaction that the market has outbid, at the same nonce: replaced when a new attempt is stored, to be
 * broadcast, stuck when there is no room for one, unchanged when it offers enough or another process was first.
 */
export async function replace(
  context: SenderContext,
  pending: PendingTransaction,
  market: FeeMarket,
): Promise<'replaced' | 'stuck' | 'unchanged'> {
  const { chainId, transactionId } = pending;
  const last = newestAttempt(pending);
  if (!isOutbid(last, market)) return 'unchanged';
  const fees = raisedFees(last, market, context.maxFeePerGas);
  const isUsedUp = pending.attempts.length >= maxAttempts && last.maxFee >= market.nextBaseFee;
  if (fees === undefined || isUsedUp) return 'stuck';
  return context.db.transaction(async (transaction) => {
    const locked = await lockPendingById(transaction, transactionId);
    // Another process has replaced or concluded it meanwhile.
    if (locked === undefined || newestAttempt(locked).txHash !== last.txHash) return 'unchanged';
    const { nonce, to, data, gasLimit } = locked;
    const unsigned = { chainId, nonce, to, data, gasLimit, ...fees };
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
 * Concludes a transaction as superseded when its nonce is used up by a final block and none of its attempts has a
 * receipt. The caller has asked for `finalCount` before: a transaction of ours that used up the nonce has its receipt by
 * then. Found twice in a row before it counts (`isSuspect`: found by the round before). True when it was found.
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
  if (outcomes.some((outcome) => parseReceipt(resultOf(outcome)) !== undefined)) return false;
  if (!found.isSuspect) return true;
  const { txHash } = newestAttempt(pending);
  const conclusion = {
    status: outcomeOf('nonce_taken'),
    ...{ txHash, blockNumber: undefined, blockTime: undefined },
  };
  const told = { at: context.clock.now(), onOutcome: context.onOutcome, rewinds: found.rewinds };
  const count = await context.db.transaction((transaction) =>
    conclude(transaction, [{ pending, conclusion }], told),
  );
  if (count > 0) context.log.warn('sender.superseded', { chainId, nonce: nonce.toString(), txHash });
  return true;
}

/**
 * Fills nonces from `nextNonce` (the wallet's next one at the head) below the highest pending one that no transaction of
 * ours has: nothing above such a hole is ever mined. True when something was stored, to be broadcast.
 */
export async function fillHoles(
  context: SenderContext,
  chain: Chain,
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
  const holes: bigint[] = [];
  for (let nonce = nextNonce; nonce < highest && holes.length < maxFills; nonce += 1n) {
    if (!taken.has(nonce)) holes.push(nonce);
  }
  if (holes.length === 0) return false;
  const request = { purpose: 'fill', to: context.wallet.address, data: '0x' } as const;
  const plan = await planTransaction(context, chain.chainId, request);
  if ('reverted' in plan) throw new Error('a transfer of nothing to ourselves would revert');
  for (const nonce of holes) {
    const at = context.clock.now();
    const placed = placedFrom([plan], nonce);
    const raws = await signAll(context.wallet, placed);
    await context.db.transaction((transaction) => storeTransactions(transaction, placed, raws, at));
    context.log.warn('sender.hole_filled', { chainId: chain.chainId, nonce: nonce.toString() });
  }
  return true;
}
