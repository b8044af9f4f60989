import type { ExceptionKind } from '@florin/protocol/exception.ts';
import { newId } from '@florin/protocol/id.ts';
import type { Chain } from '#chains/chain.ts';
import type { ChainEvent, ChainHandler } from '#chains/event.ts';
import type { Transaction } from '#db/database.ts';
import { raise } from '#exceptions/exception.ts';
import { book } from '#ledger/entry.ts';
import { findOrder, isCollectedOnly } from '#sessions/order.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession, type SessionMoveDeps } from '#sessions/session-move.ts';
import type { StoredOrder, StoredSession } from '#sessions/stored-session.ts';
import type { Log } from '#telemetry/log.ts';
import { canonicalPayment } from './payment.sql.ts';
import { paymentPostings } from './postings.ts';

export interface PaymentDeps extends SessionMoveDeps {
  readonly log: Log;
}

/**
 * Turns pay events into session moves: a payment in a block is detected, one that is reorged out is undetected, and one
 * that is final makes the session paid and is booked. The chain is the only source of `paid`.
 */
export function paymentHandler(deps: PaymentDeps): ChainHandler {
  return {
    async onBlock(transaction, _chain, _block, events) {
      for (const event of paidEvents(events)) await detect(transaction, deps, event);
    },
    async onReorg(transaction, _chain, removed) {
      for (const event of paidEvents(removed)) await undetect(transaction, deps, event);
    },
    async onFinal(transaction, chain, _block, events) {
      for (const event of paidEvents(events)) await accept(transaction, deps, chain, event);
    },
  };
}

function paidEvents(events: readonly ChainEvent[]): ChainEvent[] {
  return events.filter((event) => event.name === 'Paid');
}

/** The order and its locked session; undefined, with a line in the log, for orders that this database does not know. */
async function orderAndSession(
  transaction: Transaction,
  deps: PaymentDeps,
  event: ChainEvent,
): Promise<{ order: StoredOrder; session: StoredSession } | undefined> {
  const order = await findOrder(transaction, event.orderId);
  const session = order === undefined ? undefined : await lockSession(transaction, order.sessionId);
  if (order === undefined || session === undefined) {
    // Signed by this service but not in this database: it was restored from a backup older than the order.
    deps.log.warn('payment.unmatched', {
      chainId: event.chainId,
      orderId: event.orderId,
      txHash: event.txHash,
    });
    return undefined;
  }
  return { order, session };
}

async function detect(transaction: Transaction, deps: PaymentDeps, event: ChainEvent): Promise<void> {
  const found = await orderAndSession(transaction, deps, event);
  if (found === undefined || found.session.initiateTx !== '') return;
  const trigger = isLate(found) ? 'late_payment_detected' : 'payment_detected';
  await moveSession(transaction, deps, found.session, trigger, { initiateTx: event.txHash });
}

/** Only a deposit that was accepted is collected so late, and its order was signed for that alone. */
function isLate({ session, order }: { session: StoredSession; order: StoredOrder }): boolean {
  return session.status === 'expired' && isCollectedOnly(order);
}

async function undetect(transaction: Transaction, deps: PaymentDeps, event: ChainEvent): Promise<void> {
  const found = await orderAndSession(transaction, deps, event);
  if (found === undefined || found.session.initiateTx !== event.txHash) return;
  // Another payer's payment on another chain may still stand.
  const rows = await transaction.query(canonicalPayment, [found.session.sessionId]);
  const trigger = isLate(found) ? 'late_payment_undetected' : 'payment_undetected';
  await moveSession(transaction, deps, found.session, trigger, {
    initiateTx: rows[0]?.tx_hash ?? '',
  });
}

async function accept(
  transaction: Transaction,
  deps: PaymentDeps,
  chain: Chain,
  event: ChainEvent,
): Promise<void> {
  const found = await orderAndSession(transaction, deps, event);
  if (found === undefined) return;
  const { order, session } = found;
  await book(transaction, {
    kind: 'payment',
    orderId: order.orderId,
    chainId: chain.chainId,
    txHash: event.txHash,
    at: event.blockTime,
    postings: paymentPostings(order, chain.name),
  });
  if (session.orderId === order.orderId) return;
  const trigger = isLate(found) ? 'late_payment_final' : 'payment_final';
  const paid = await moveSession(transaction, deps, session, trigger, {
    // Of an x402 payment the order names where money goes back to, the session who has signed.
    payer: session.intendedPayer === '' ? order.order.payer : session.intendedPayer,
    payerEmail: order.payerEmail,
    paidToken: order.tokenId,
    receiptId: newId('receipt', deps.random.bytes),
    orderId: order.orderId,
    initiateTx: event.txHash,
    paymentSucceededAt: event.blockTime,
  });
  // Another chain's payment was final first: this one goes back to its payer (see settlement).
  if (paid === undefined)
    await raiseException(transaction, deps, { session, order, event, kind: 'duplicate' });
}

/** Tells the merchant, and the operator's log, what a final event did to a payment out of the usual course. */
export async function raiseException(
  transaction: Transaction,
  deps: PaymentDeps,
  raised: { session: StoredSession; order: StoredOrder; event: ChainEvent; kind: ExceptionKind },
): Promise<void> {
  const { session, order, event, kind } = raised;
  await raise(transaction, deps, { session, order, kind, txHash: event.txHash });
}
