import type { PurposeRules } from '@florin/evm';

/**
 * The purposes of the service's transactions. `payout` pays a merchant from a vault or by a mint. `relay` sends a
 * payer's signed payment, and `collect` moves a payment out of its deposit address. `add` completes a short deposit,
 * and `rescue` returns money that no order can use.
 */
export type SendPurpose = 'settle' | 'payout' | 'mint' | 'refund' | 'relay' | 'collect' | 'rescue' | 'add';

/** Settlements and returns have priority: calls that only save payers gas must leave enough gas for them. */
export const purposes: PurposeRules<SendPurpose> = {
  relayed: ['relay', 'collect'],
  withinReserve: ['relay', 'collect', 'add'],
};
