import type { ExceptionKind } from '@florin/protocol/exception.ts';

/** What is known of an order and of its own token at its deposit address. */
export interface DepositState {
  readonly orderId: string;
  /** In units of the token. */
  readonly amount: bigint;
  readonly total: bigint;
  /** The least that counts as paid: the total, less what is added to a short deposit. */
  readonly least: bigint;
  /** Last second in which a block may carry the payment. */
  readonly payBy: bigint;
  /** Time of the chain's final block, Unix seconds. */
  readonly finalTime: bigint;
  /** Time of the chain's newest block, Unix seconds. */
  readonly headTime: bigint;
  /** The order that paid the session, finally; empty while none has. */
  readonly paidOrderId: string;
  /** A payment of the session is in a block. */
  readonly isPaymentSeen: boolean;
  /** The session has ended without a payment. */
  readonly isExpired: boolean;
  /** Whether what comes after the end is taken, by the link's policy or by the merchant's decision. */
  readonly isLateAccepted: boolean;
  /** Whether the merchant has said so, or has been told so. */
  readonly isPromised: boolean;
}

/**
 * collect: it pays the order. add: it does once the operator has added what it lacks. wait: it may yet. hold: it came after
 * the end, and nobody has accepted it; it stays until the order's deadline. An exception: it pays nothing and goes back.
 */
export type DepositVerdict =
  | { readonly move: 'none' | 'wait' | 'collect' | 'add' }
  | {
      readonly move: 'hold' | 'return';
      readonly kind: Extract<ExceptionKind, 'overpaid' | 'duplicate' | 'underpaid' | 'late'>;
    };

/** An addition and the collection after it have to be in blocks by the deadline, or the payer would get the addition. */
const additionMarginSeconds = 180n;
/** A collection that is promised as it is sent has to be in a block by the deadline. */
const promiseMarginSeconds = 60n;

/** What becomes of what lies at a deposit address, by what is final. */
export function verdictOf(state: DepositState): DepositVerdict {
  const { amount, total } = state;
  if (amount === 0n) return { move: 'none' };
  if (state.paidOrderId === state.orderId) return { move: 'return', kind: 'overpaid' };
  if (state.paidOrderId !== '') return { move: 'return', kind: 'duplicate' };
  const kind = amount < total ? 'underpaid' : 'late';
  // The contract lets nothing be collected any more, and from now on everything be returned.
  if (state.finalTime > state.payBy) return { move: 'return', kind };
  if (state.isPaymentSeen) return { move: 'wait' };
  const isTaken = !state.isExpired || state.isLateAccepted;
  const isKept = !state.isExpired || state.isPromised || state.headTime + promiseMarginSeconds <= state.payBy;
  if (isTaken && isKept && amount >= total) return { move: 'collect' };
  const isTime = state.headTime + additionMarginSeconds <= state.payBy;
  if (isTaken && amount >= state.least && isTime) return { move: 'add' };
  return state.isExpired ? { move: 'hold', kind } : { move: 'wait' };
}
