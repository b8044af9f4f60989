import type { PaymentException } from '@florin/protocol/exception.ts';
import {
  type FoundDeposit,
  findPageDeposits,
  findSurplus,
  type Surplus,
} from '#deposits/session-deposits.ts';
import { findExceptions } from '#exceptions/exception.ts';
import { findExceptionsInDoubt } from '#exceptions/lost-exception.ts';
import { type AddressTerms, findDepositAddresses } from '#orders/deposit-terms.ts';
import { findOrders } from '#orders/order.ts';
import {
  findLostPayments,
  findReturnsInDoubt,
  findSeenPayments,
  type SeenPayment,
} from '#sessions/progress.ts';
import type { SessionState } from '#sessions/stored-session.ts';
import type { CheckoutContext } from './context.ts';

/** The facts about a session besides its row. */
export interface SessionFacts {
  readonly seen?: SeenPayment | undefined;
  /** A reorg below finality took the payment back. */
  readonly isLost?: boolean;
  readonly deposits?: readonly FoundDeposit[] | undefined;
  readonly surplus?: readonly Surplus[] | undefined;
  /** Without those whose money is gone, and those whose money or return may be: a reorg or a halted chain may have lost it. */
  readonly exceptions?: readonly PaymentException[];
  /** There are exceptions whose money or return may be gone. */
  readonly isUnusedInDoubt?: boolean;
  /** Orders of the exceptions that were asked for without the session's secret. */
  readonly unproven?: ReadonlySet<string>;
  /** The address that the session's pages show. */
  readonly address?: AddressTerms | undefined;
}

/** Whether the session's payment, a part of it, or money that went back may no longer count. */
export function areInDoubt({ seen, isLost, isUnusedInDoubt, deposits = [] }: SessionFacts): boolean {
  const isPartInDoubt = deposits.some((deposit) => deposit.isInDoubt);
  return isLost === true || seen?.isInDoubt === true || isPartInDoubt || isUnusedInDoubt === true;
}

/** Reads the facts of several sessions that are not in their rows: six statements at once, and three more where money paid nothing. */
export async function findSessionFacts(
  deps: Pick<CheckoutContext, 'db' | 'chains' | 'clock'>,
  sessions: readonly SessionState[],
): Promise<(session: SessionState) => SessionFacts> {
  const { db } = deps;
  const sessionIds = sessions.map(({ sessionId }) => sessionId);
  const paidIds = sessions.flatMap(({ sessionId, initiateTx }) => (initiateTx === '' ? [] : [sessionId]));
  const delayed = sessions.flatMap(({ status, orderId }) => (status === 'settlement_pending' ? orderId : []));
  const shown = sessions.flatMap(({ shownOrderId }) => (shownOrderId === '' ? [] : [shownOrderId]));
  const [seen, lost, deposits, surplus, found, addresses] = await Promise.all([
    findSeenPayments(db, sessionIds),
    findLostPayments(db, delayed),
    findPageDeposits(db, deps, sessionIds),
    findSurplus(db, deps, paidIds),
    findExceptions(db, sessionIds),
    findDepositAddresses(db, shown),
  ]);
  const exceptions = found.filter(({ isGone }) => !isGone);
  const orderIds = exceptions.map(({ orderId }) => orderId);
  const [orders, doubted, returns] = await Promise.all([
    findOrders(db, orderIds),
    findExceptionsInDoubt(db, orderIds),
    findReturnsInDoubt(
      db,
      exceptions.flatMap(({ orderId, resolvedTx }) => (resolvedTx === '' ? [] : orderId)),
    ),
  ]);
  const unproven = new Set<string>(orders.flatMap(({ withSecret, orderId }) => (withSecret ? [] : orderId)));
  return ({ sessionId, shownOrderId, orderId }) => {
    const own = exceptions.filter((exception) => exception.sessionId === sessionId);
    const known = own.filter(
      ({ exceptionId, resolvedTx }) => !doubted.has(exceptionId) && !returns.has(resolvedTx),
    );
    return {
      unproven,
      seen: seen.get(sessionId),
      isLost: lost.has(orderId),
      deposits: deposits.get(sessionId),
      surplus: surplus.filter((each) => each.sessionId === sessionId),
      exceptions: known,
      isUnusedInDoubt: known.length < own.length,
      address: addresses.get(shownOrderId),
    };
  };
}
