/** The facts about an accepted payment. */
export interface PaymentFacts {
  /** The outcome of the transaction that we sent for it; empty when none was sent. */
  readonly sent: 'sent' | 'succeeded' | 'failed' | '';
  /** Whether the chain showed the payer's own transfer to the address. */
  readonly isMoved: boolean;
  /** Whether the order's payment is in a block. */
  readonly isOrderPaid: boolean;
  /** Whether another order paid the session, final. */
  readonly isOtherPaid: boolean;
  readonly isSessionExpired: boolean;
  /** Whether the address was shown to this payer alone: then any payment of its order is this payment. */
  readonly isPrivate: boolean;
}

/**
 * seen: in a block, and by this payer. unproven: the order is paid, perhaps by another payer who was shown the same
 * address. pending: sent, and not seen yet. unsent: no transaction of ours is under way; the chain shows whether the
 * money is there. paid_otherwise and expired: this payment pays nothing, and its money goes back.
 */
export type PaymentOutcome = 'seen' | 'unproven' | 'pending' | 'unsent' | 'paid_otherwise' | 'expired';

export function outcomeOf(facts: PaymentFacts): PaymentOutcome {
  const { sent, isOrderPaid } = facts;
  const isProven = facts.isPrivate || facts.isMoved || sent === 'succeeded';
  if (isOrderPaid) return isProven ? 'seen' : 'unproven';
  if (facts.isOtherPaid) return 'paid_otherwise';
  if (facts.isSessionExpired) return 'expired';
  return sent === 'sent' || sent === 'succeeded' ? 'pending' : 'unsent';
}
