import type { RefundStatus } from '@florin/protocol/refund.ts';

/** What can happen to a requested refund: final facts of the chain, their loss, and the merchant's own cancelling. */
export const refundTriggers = [
  /** The payer has the money back, out of the gateway. */
  'payment_returned',
  /** The order was settled first: the money went to the merchant. */
  'payment_settled',
  /** The merchant's wallet has sent this amount of a settled payment back. */
  'settlement_refunded',
  /** Other refunds have left less than this amount. */
  'amount_exceeded',
  /** The merchant no longer wants it, and no wallet has been asked to sign it. */
  'cancel',
  /** A reorg below finality took back the block in which the platform, or the payer, returned the payment. */
  'payment_return_lost',
  /** The same of the block with the return by the merchant's wallet. */
  'settlement_return_lost',
  /** The same, and the merchant had cancelled the refund before that return. */
  'cancelled_return_lost',
] as const;
export type RefundTrigger = (typeof refundTriggers)[number];

interface RefundMove {
  readonly from: RefundStatus;
  readonly trigger: RefundTrigger;
  readonly to: RefundStatus;
  readonly event: 'refund.completed' | 'refund.failed' | 'refund.cancelled' | 'refund.reopened';
}

/** Every move of a refund. An absent pair of status and trigger is refused. */
export const refundMoves: readonly RefundMove[] = [
  { from: 'pending', trigger: 'payment_returned', to: 'completed', event: 'refund.completed' },
  { from: 'pending', trigger: 'payment_settled', to: 'failed', event: 'refund.failed' },
  { from: 'requires_signature', trigger: 'settlement_refunded', to: 'completed', event: 'refund.completed' },
  { from: 'requires_signature', trigger: 'amount_exceeded', to: 'failed', event: 'refund.failed' },
  // The settlement that it relied on was reorged out, and the payment went back instead.
  { from: 'requires_signature', trigger: 'payment_returned', to: 'failed', event: 'refund.failed' },
  { from: 'requires_signature', trigger: 'cancel', to: 'cancelled', event: 'refund.cancelled' },
  // A transaction that was signed before it was cancelled is mined after all.
  { from: 'cancelled', trigger: 'settlement_refunded', to: 'completed', event: 'refund.completed' },
  { from: 'completed', trigger: 'payment_return_lost', to: 'pending', event: 'refund.reopened' },
  {
    from: 'completed',
    trigger: 'settlement_return_lost',
    to: 'requires_signature',
    event: 'refund.reopened',
  },
  { from: 'completed', trigger: 'cancelled_return_lost', to: 'cancelled', event: 'refund.reopened' },
];

/** The move for a status and a trigger; undefined when there is none. */
export function refundMove(status: RefundStatus, trigger: RefundTrigger): RefundMove | undefined {
  return refundMoves.find((move) => move.from === status && move.trigger === trigger);
}
