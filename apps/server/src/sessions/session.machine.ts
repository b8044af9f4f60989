import type { SessionStatus } from '@florin/protocol/session.ts';

/** What can happen to a session. Facts of the chain come from the watcher, never from a request. */
export const sessionTriggers = [
  /** The service signed an order for a payer. */
  'order_signed',
  /** Every signed order has ended unpaid, by the time of a final block of its chain. */
  'orders_lapsed',
  /** The pay transaction is in a block that is not final. */
  'payment_detected',
  /** That block was reorged out. */
  'payment_undetected',
  /** The pay event is canonical and final. */
  'payment_final',
  /** A deposit that was accepted after the session expired is collected in a block that is not final. */
  'late_payment_detected',
  /** That block was reorged out. */
  'late_payment_undetected',
  /** Its pay event is canonical and final. */
  'late_payment_final',
  /** A settlement transaction is stored, not broadcast yet. */
  'settlement_recorded',
  /** The settlement reached the merchant's wallet and is final on the target chain. */
  'settlement_final',
  /** Settlement reorged out, reverted, not mined in time, vault short, recipient blocked, token paused. */
  'settlement_delayed',
  /** The whole payment is finally back with its payer: by a refund, or by the payer's own reclaim. */
  'payment_returned',
  /** The merchant returned some of a settled payment to the payer, and the transaction is final. */
  'settlement_refunded',
  /** A reorg below finality took back a final return: less is back with the payer. */
  'return_lost',
  /** A reorg below finality took back the final payment itself. */
  'payment_lost',
  /** That payment is final again. */
  'payment_restored',
  /** It is not back, and a final block of its chain is later than the deadline of its order. */
  'payment_lapsed',
  /** Nothing can pay the session any more: by our clock when unsigned, by the chain's when signed. */
  'expire',
  'cancel',
] as const;
export type SessionTrigger = (typeof sessionTriggers)[number];

/** The state that decides: the status, and whether an order is signed. */
export interface SessionMoveState {
  readonly status: SessionStatus;
  readonly signedOnce: boolean;
}

interface Move {
  readonly from: SessionStatus;
  readonly trigger: SessionTrigger;
  /** Undefined: holds for signed and unsigned sessions alike. */
  readonly signedOnce?: boolean;
  readonly to: SessionStatus;
  readonly event?:
    | 'session.payment_detected'
    | 'session.paid'
    | 'session.settling'
    | 'session.completed'
    | 'session.settlement_pending'
    | 'session.expired'
    | 'session.cancelled';
}

/** Every move that a session can make (S1 to S10). A pair of status and trigger that is absent is refused. */
export const sessionMoves: readonly Move[] = [
  { from: 'initialized', trigger: 'order_signed', to: 'initialized' },
  // The session counts as unsigned again: no order can pay it any more, so it can be cancelled.
  { from: 'initialized', trigger: 'orders_lapsed', to: 'initialized' },
  { from: 'initialized', trigger: 'payment_detected', to: 'initialized', event: 'session.payment_detected' },
  { from: 'initialized', trigger: 'payment_undetected', to: 'initialized' },
  { from: 'initialized', trigger: 'payment_final', to: 'paid', event: 'session.paid' },
  { from: 'paid', trigger: 'settlement_recorded', to: 'settling', event: 'session.settling' },
  { from: 'settling', trigger: 'settlement_final', to: 'completed', event: 'session.completed' },
  // A direct order, or a third party's settle call that became final before ours was recorded.
  { from: 'paid', trigger: 'settlement_final', to: 'completed', event: 'session.completed' },
  {
    from: 'paid',
    trigger: 'settlement_delayed',
    to: 'settlement_pending',
    event: 'session.settlement_pending',
  },
  {
    from: 'settling',
    trigger: 'settlement_delayed',
    to: 'settlement_pending',
    event: 'session.settlement_pending',
  },
  {
    from: 'completed',
    trigger: 'settlement_delayed',
    to: 'settlement_pending',
    event: 'session.settlement_pending',
  },
  { from: 'settlement_pending', trigger: 'settlement_recorded', to: 'settling', event: 'session.settling' },
  { from: 'settlement_pending', trigger: 'settlement_final', to: 'completed', event: 'session.completed' },
  // The session stays paid: there is nothing to settle any more.
  { from: 'paid', trigger: 'payment_returned', to: 'paid' },
  { from: 'settling', trigger: 'payment_returned', to: 'paid' },
  { from: 'settlement_pending', trigger: 'payment_returned', to: 'paid' },
  // The refunded amount is a field of the session, not a status.
  { from: 'paid', trigger: 'settlement_refunded', to: 'paid' },
  { from: 'settling', trigger: 'settlement_refunded', to: 'settling' },
  { from: 'completed', trigger: 'settlement_refunded', to: 'completed' },
  { from: 'settlement_pending', trigger: 'settlement_refunded', to: 'settlement_pending' },
  { from: 'paid', trigger: 'return_lost', to: 'paid' },
  { from: 'settling', trigger: 'return_lost', to: 'settling' },
  { from: 'completed', trigger: 'return_lost', to: 'completed' },
  { from: 'settlement_pending', trigger: 'return_lost', to: 'settlement_pending' },
  ...(['paid', 'settling', 'completed', 'settlement_pending'] as const).map((from) => ({
    ...({ from, trigger: 'payment_lost', to: 'settlement_pending' } as const),
    event: 'session.settlement_pending' as const,
  })),
  // Never `session.paid`, which comes once: what is missing now is the settlement.
  ...(['settlement_pending', 'expired'] as const).map((from) => ({
    ...({ from, trigger: 'payment_restored', to: 'settlement_pending' } as const),
    event: 'session.settlement_pending' as const,
  })),
  { from: 'settlement_pending', trigger: 'payment_lapsed', to: 'expired', event: 'session.expired' },
  { from: 'initialized', trigger: 'expire', to: 'expired', event: 'session.expired' },
  // Only deposit addresses: no payer holds an order that can be paid after the deadline (S10).
  { from: 'expired', trigger: 'late_payment_detected', to: 'expired', event: 'session.payment_detected' },
  { from: 'expired', trigger: 'late_payment_undetected', to: 'expired' },
  { from: 'expired', trigger: 'late_payment_final', to: 'paid', event: 'session.paid' },
  { from: 'initialized', trigger: 'cancel', signedOnce: false, to: 'cancelled', event: 'session.cancelled' },
];

/** The move for a state and a trigger; undefined when there is none. */
export function sessionMove(state: SessionMoveState, trigger: SessionTrigger): Move | undefined {
  return sessionMoves.find(
    (move) =>
      move.from === state.status &&
      move.trigger === trigger &&
      (move.signedOnce === undefined || move.signedOnce === state.signedOnce),
  );
}
