import type { RefundStatus } from '@florin/protocol/refund.ts';

/** What can happen to a refund once it was asked for: facts of the chain, when they are final. */
export const refundTriggers = [
  /** The payer has the money back, out of the gateway. */
  'payment_returned',
  /** Somebody settled the order first: the money went to the merchant. */
  'payment_settled',
  /** The merchant's wallet has sent this amount of a settled payment back. */
  'settlement_refunded',
  /** So much went back since that this amount cannot any more. */
  'amount_exceeded',
] as const;
export type RefundTrigger = (typeof refundTriggers)[number];

interface RefundMove {
  readonly from: RefundStatus;
  readonly trigger: RefundTrigger;
  readonly to: RefundStatus;
  readonly event: 'refund.completed' | 'refund.failed';
}

/** Every move that a refund can make. A pair of status and trigger that is absent is refused. */
export const refundMoves: readonly RefundMove[] = [
  { from: 'pending', trigger: 'payment_returned', to: 'completed', event: 'refund.completed' },
  { from: 'pending', trigger: 'payment_settled', to: 'failed', event: 'refund.failed' },
  { from: 'requires_signature', trigger: 'settlement_refunded', to: 'completed', event: 'refund.completed' },
  { from: 'requires_signature', trigger: 'amount_exceeded', to: 'failed', event: 'refund.failed' },
  // The settlement that it relied on was reorged out, and the payment went back instead.
  { from: 'requires_signature', trigger: 'payment_returned', to: 'failed', event: 'refund.failed' },
];

/** The move for a status and a trigger; undefined when there is none. */
export function refundMove(status: RefundStatus, trigger: RefundTrigger): RefundMove | undefined {
  return refundMoves.find((move) => move.from === status && move.trigger === trigger);
}
