import type { ExceptionKind } from '@florin/protocol/exception.ts';

/** What is known of an order and of its own token at its deposit address. */
export interface DepositState {
  readonly orderId: string;
  /** In units of the token. */
  readonly amount: bigint;
  readonly total: bigint;
  /** Last second in which a block may carry the payment. */
  readonly payBy: bigint;
  /** Time of the chain's final block, Unix seconds. */
  readonly finalTime: bigint;
  /** The order that paid the session, finally; empty while none has. */
  readonly paidOrderId: string;
  /** A payment of the session is in a block. */
  readonly isPaymentSeen: boolean;
}

/** collect: it pays the order. wait: it may yet. An exception: it pays nothing and goes back. */
export type DepositVerdict =
  | 'nothing'
  | 'collect'
  | 'wait'
  | Extract<ExceptionKind, 'overpaid' | 'duplicate' | 'underpaid' | 'late'>;

/** What becomes of what lies at a deposit address, by what is final. */
export function verdictOf(state: DepositState): DepositVerdict {
  const { amount, total } = state;
  if (amount === 0n) return 'nothing';
  if (state.paidOrderId === state.orderId) return 'overpaid';
  if (state.paidOrderId !== '') return 'duplicate';
  if (state.finalTime > state.payBy) return amount < total ? 'underpaid' : 'late';
  return amount >= total && !state.isPaymentSeen ? 'collect' : 'wait';
}
