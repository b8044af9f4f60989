import type { ExceptionKind } from '@florin/protocol/exception.ts';

/** The facts about an order and the balance of its own token at its deposit address. */
export interface DepositState {
  readonly orderId: string;
  /** In units of the token. */
  readonly amount: bigint;
  readonly total: bigint;
  /** The smallest amount that counts as paid: the total minus the possible addition. */
  readonly least: bigint;
  /** The last second in which a block can carry the payment. */
  readonly payBy: bigint;
  /** Time of the chain's final block, Unix seconds. */
  readonly finalTime: bigint;
  /** Time of the chain's newest block, Unix seconds. */
  readonly headTime: bigint;
  /** The order whose final payment paid the session; empty while there is none. */
  readonly paidOrderId: string;
  /** A reorg below finality took that payment back, and it is not final again. */
  readonly isPaymentLost: boolean;
  /** A payment of the session is in a block. */
  readonly isPaymentSeen: boolean;
  /** The session has ended without a payment. */
  readonly isExpired: boolean;
  /** Whether the link's policy or the merchant's decision accepts money after the end. */
  readonly isLateAccepted: boolean;
  /** Whether the merchant accepted it, or was notified of the acceptance. */
  readonly isPromised: boolean;
}

/**
 * collect: the money pays the order. add: it does after an addition by the operator. wait: it may still. hold: it came
 * after the end and is not accepted, and stays until the order's deadline. return: it pays nothing and goes back.
 */
export type DepositVerdict =
  | { readonly move: 'none' | 'wait' | 'collect' | 'add' }
  | {
      readonly move: 'hold' | 'return';
      readonly kind: Extract<ExceptionKind, 'overpaid' | 'duplicate' | 'underpaid' | 'late'>;
    };

/** Time for an addition and its collection before the deadline. After it, the payer would get the addition. */
const additionMarginSeconds = 180n;
/** Time for a collection that is promised as it is sent to get into a block. */
const promiseMarginSeconds = 60n;

/** Decides about the money at a deposit address, by final facts. */
export function verdictOf(state: DepositState): DepositVerdict {
  const { amount, total } = state;
  if (amount === 0n) return { move: 'none' };
  const isPaidOrder = state.paidOrderId === state.orderId;
  if (isPaidOrder && !state.isPaymentLost) return { move: 'return', kind: 'overpaid' };
  if (!isPaidOrder && state.paidOrderId !== '') return { move: 'return', kind: 'duplicate' };
  const kind = amount < total ? 'underpaid' : 'late';
  // From now on the contract allows no collection, and every return.
  if (state.finalTime > state.payBy) return { move: 'return', kind };
  // The money of the lost payment is there again, or still: the session takes it as it did before.
  if (isPaidOrder) return { move: amount >= total ? 'collect' : 'wait' };
  if (state.isPaymentSeen) return { move: 'wait' };
  const isTaken = !state.isExpired || state.isLateAccepted;
  const isKept = !state.isExpired || state.isPromised || state.headTime + promiseMarginSeconds <= state.payBy;
  if (isTaken && isKept && amount >= total) return { move: 'collect' };
  const isTime = state.headTime + additionMarginSeconds <= state.payBy;
  if (isTaken && amount >= state.least && isTime) return { move: 'add' };
  return state.isExpired ? { move: 'hold', kind } : { move: 'wait' };
}

/** Time for a collection to get into a block before the order's deadline: a later acceptance would promise too much. */
const decisionMarginSeconds = 300;

/** Until when a merchant decides about money that is payable until `payBy`, in Unix seconds. */
export function decisionEnd(payBy: number): Date {
  return new Date((payBy - decisionMarginSeconds) * 1000);
}
