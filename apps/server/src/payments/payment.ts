import type { Transaction } from '@florin/pg';
import { newId } from '@florin/protocol/id.ts';
import type { Chain, Chains } from '#chains/chain.ts';
import type { ChainEvent, ChainHandler } from '#contracts/event.ts';
import { raise } from '#exceptions/exception.ts';
import { book } from '#ledger/entry.ts';
import { countLinkPayments } from '#links/link-status.ts';
import { isCollectedOnly } from '#orders/order.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { eachWithLockedOrder, type LockedOrder } from '#sessions/event-order.ts';
import { moveSession } from '#sessions/session-move.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { Log } from '#telemetry/log.ts';
import { canonicalPayment } from './payment.sql.ts';
import { paymentPostings } from './postings.ts';

export interface PaymentContext extends SessionMoveContext {
  readonly chains: Chains;
  readonly log: Log;
}

/**
 * Turns pay events into session moves. A payment in a block is detected, one whose block is reorged out is undetected,
 * and a final one is booked and makes its session paid. The chain is the only source of `paid`.
 */
export function paymentHandler(deps: PaymentContext): ChainHandler {
  return {
    onBlock: (transaction, _chain, _block, events) =>
      eachPayment(transaction, deps, events, (payment) => detect(transaction, deps, payment)),
    onReorg: (transaction, _chain, removed) =>
      eachPayment(transaction, deps, removed, (payment) => undetect(transaction, deps, payment)),
    async onFinal(transaction, chain, _block, events) {
      const paidLinks: string[] = [];
      await eachPayment(transaction, deps, events, async (payment) => {
        const paid = await accept(transaction, deps, chain, payment);
        // A payment that a reorg below finality took back and that returns was counted before, unless its session had ended.
        const isCounted = payment.session.paymentSucceededAt !== undefined;
        if (paid !== undefined && !isCounted && paid.businessId !== '') paidLinks.push(paid.businessId);
        return paid;
      });
      // After all sessions of the block, so that every chain locks sessions before links.
      await countLinkPayments(transaction, deps, paidLinks);
    },
  };
}

/** A payment of an order of ours. */
interface Payment extends LockedOrder {
  readonly event: ChainEvent;
}

/** Calls `react` for each payment of a known order, in the order of the events. It returns the session if it moved it. */
function eachPayment(
  transaction: Transaction,
  deps: PaymentContext,
  events: readonly ChainEvent[],
  react: (payment: Payment) => Promise<StoredSession | undefined>,
): Promise<void> {
  const payments = events.filter((event) => event.name === 'Paid');
  return eachWithLockedOrder(transaction, payments, async (event, found) => {
    if (found !== undefined) return react({ ...found, event });
    // This service signed the order, and then its database was restored from an older backup.
    const { chainId, orderId, txHash } = event;
    deps.log.warn('payment.unmatched', { chainId, orderId, txHash });
    return undefined;
  });
}

async function detect(
  transaction: Transaction,
  deps: PaymentContext,
  payment: Payment,
): Promise<StoredSession | undefined> {
  const { session, event } = payment;
  if (session.initiateTx !== '') return undefined;
  const trigger = isLate(payment) ? 'late_payment_detected' : 'payment_detected';
  return moveSession(transaction, deps, session, trigger, { initiateTx: event.txHash });
}

/** Only an accepted deposit is collected after its session has expired, by an order that was signed for that alone. */
function isLate({ session, order }: LockedOrder): boolean {
  return session.status === 'expired' && isCollectedOnly(order);
}

async function undetect(
  transaction: Transaction,
  deps: PaymentContext,
  payment: Payment,
): Promise<StoredSession | undefined> {
  const { session, event } = payment;
  if (session.initiateTx !== event.txHash) return undefined;
  // Another payer's payment may be in a block of another chain.
  const [other] = await transaction.query(canonicalPayment, { sessionId: session.sessionId });
  const trigger = isLate(payment) ? 'late_payment_undetected' : 'payment_undetected';
  return moveSession(transaction, deps, session, trigger, { initiateTx: other?.tx_hash ?? '' });
}

async function accept(
  transaction: Transaction,
  deps: PaymentContext,
  chain: Chain,
  payment: Payment,
): Promise<StoredSession | undefined> {
  const { order, session, event } = payment;
  const { chainId, txHash, blockTime: at } = event;
  const postings = paymentPostings(order, chain.name);
  await book(transaction, { kind: 'payment', orderId: order.orderId, chainId, txHash, at, postings });
  const isOwn = session.orderId === order.orderId;
  if (isOwn && session.pendingReason !== 'payment_reorged' && session.status !== 'expired') return undefined;
  const trigger = isOwn ? 'payment_restored' : isLate(payment) ? 'late_payment_final' : 'payment_final';
  const changes = {
    // The payer of an x402 order is its refund address. Its session names the signer.
    payer: session.intendedPayer === '' ? order.order.payer : session.intendedPayer,
    payerEmail: order.payerEmail,
    paidToken: order.tokenId,
    // The payer may have the receipt of a payment that returns.
    receiptId: isOwn && session.receiptId !== '' ? session.receiptId : newId('receipt', deps.random.bytes),
    orderId: order.orderId,
    initiateTx: txHash,
    paymentSucceededAt: at,
    ...(isOwn ? { pendingReason: 'reorged' as const } : {}),
  };
  const paid = await moveSession(transaction, deps, session, trigger, changes, order);
  // Another payment was final first. Settlement sends this one back to its payer.
  if (paid === undefined) await raise(transaction, deps, { session, order, kind: 'duplicate', txHash });
  return paid;
}
