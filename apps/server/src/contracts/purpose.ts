import type { PurposeRules } from '@florin/evm';

/**
 * What the service sends a transaction for. `payout` pays a merchant, by a vault or by a mint. `relay` sends a payer's signed
 * payment, and `collect` takes one out of its deposit address. `add` adds what a deposit lacks, and `rescue` sends back what
 * no order can use.
 */
export type SendPurpose = 'settle' | 'payout' | 'mint' | 'refund' | 'relay' | 'collect' | 'rescue' | 'add';

/** Settlements and returns come first: calls that only spare payers gas must leave them their gas. */
export const purposes: PurposeRules<SendPurpose> = {
  relayed: ['relay', 'collect'],
  withinReserve: ['relay', 'collect', 'add'],
};
