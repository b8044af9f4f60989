import type { Transaction } from '@florin/pg';
import type { ExceptionKind } from '@florin/protocol/exception.ts';
import { newId } from '@florin/protocol/id.ts';
import type { Chain } from '#chains/chain.ts';
import type { ChainEvent, ChainHandler } from '#chains/event.ts';
import { raise } from '#exceptions/exception.ts';
import { book } from '#ledger/entry.ts';
import { isCollectedOnly } from '#orders/order.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { eachWithLockedOrder, type LockedOrder, lockFirstOrders } from '#sessions/event-order.ts';
import { moveSession } from '#sessions/session-move.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { Log } from '#telemetry/log.ts';
import { canonicalPayment } from './payment.sql.ts';
import { paymentPostings } from './postings.ts';

export interface PaymentContext extends SessionMoveContext {
  readonly log: Log;
}

/**
 * Turns pay events into session moves: a payment in a block is detected, one that is reorged out is undetected, and one
 * that is final makes the session paid and is booked. The chain is the only source of `paid`.
 */
export function paymentHandler(deps: PaymentContext): ChainHandler {
  const prepareBlock: Required<ChainHandler>['prepareBlock'] = async (transaction, ...[, , events]) => {
    const takeAll = await lockFirstOrders(transaction, paymentsIn(events));
    return () => takeAll(known(deps, (found) => detect(transaction, deps, found)));
  };
  return {
    async onBlock(...args) {
      const react = await prepareBlock(...args);
      await react();
    },
    prepareBlock,
    async onReorg(transaction, _chain, removed) {
      await eachPayment(transaction, deps, removed, (found) => undetect(transaction, deps, found));
    },
    async onFinal(transaction, chain, _block, events) {
      await eachPayment(transaction, deps, events, (found) => accept(transaction, deps, chain, found));
    },
  };
}

/** A payment of an order of ours. */
interface Payment extends LockedOrder {
  readonly event: ChainEvent;
}

function paymentsIn(events: readonly ChainEvent[]): readonly ChainEvent[] {
  return events.filter((event) => event.name === 'Paid');
}

async function eachPayment(
  transaction: Transaction,
  deps: PaymentContext,
  events: readonly ChainEvent[],
  take: (payment: Payment) => Promise<StoredSession | undefined>,
): Promise<void> {
  await eachWithLockedOrder(transaction, paymentsIn(events), known(deps, take));
}

/** Takes the payments of known orders; of others there is a line in the log. */
function known(deps: PaymentContext, take: (payment: Payment) => Promise<StoredSession | undefined>) {
  return async (event: ChainEvent, found: LockedOrder | undefined) => {
    if (found !== undefined) return take({ ...found, event });
    // Signed by this service but not in this database: it was restored from a backup older than the order.
    const { chainId, orderId, txHash } = event;
    deps.log.warn('payment.unmatched', { chainId, orderId, txHash });
    return undefined;
  };
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

/** Only a deposit that was accepted is collected so late, and its order was signed for that alone. */
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
  // Another payer's payment on another chain may still stand.
  const rows = await transaction.query(canonicalPayment, { sessionId: session.sessionId });
  const trigger = isLate(payment) ? 'late_payment_undetected' : 'payment_undetected';
  return moveSession(transaction, deps, session, trigger, { initiateTx: rows[0]?.tx_hash ?? '' });
}

async function accept(
  transaction: Transaction,
  deps: PaymentContext,
  chain: Chain,
  payment: Payment,
): Promise<StoredSession | undefined> {
  const { order, session, event } = payment;
  await book(transaction, {
    kind: 'payment',
    orderId: order.orderId,
    chainId: chain.chainId,
    txHash: event.txHash,
    at: event.blockTime,
    postings: paymentPostings(order, chain.name),
  });
  if (session.orderId === order.orderId) return undefined;
  const trigger = isLate(payment) ? 'late_payment_final' : 'payment_final';
  const paid = await moveSession(
    transaction,
    deps,
    session,
    trigger,
    {
      // Of an x402 payment the order names where money goes back to, the session who has signed.
      payer: session.intendedPayer === '' ? order.order.payer : session.intendedPayer,
      payerEmail: order.payerEmail,
      paidToken: order.tokenId,
      receiptId: newId('receipt', deps.random.bytes),
      orderId: order.orderId,
      initiateTx: event.txHash,
      paymentSucceededAt: event.blockTime,
    },
    order,
  );
  // Another chain's payment was final first: this one goes back to its payer (see settlement).
  if (paid === undefined)
    await raiseException(transaction, deps, { session, order, event, kind: 'duplicate' });
  return paid;
}

/** Tells the merchant, and the operator's log, what a final event did to a payment out of the usual course. */
export async function raiseException(
  transaction: Transaction,
  deps: PaymentContext,
  raised: {
    session: StoredSession;
    order: StoredOrder;
    event: Pick<ChainEvent, 'txHash'>;
    kind: ExceptionKind;
  },
): Promise<void> {
  const { session, order, event, kind } = raised;
  await raise(transaction, deps, { session, order, kind, txHash: event.txHash });
}
