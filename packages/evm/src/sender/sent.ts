import type { Transaction } from '@florin/pg';
import type { Hex } from 'viem';
import type { SentStatus } from './sent.machine.ts';

/** The sender's own purpose: an empty transaction that uses up a nonce, which would hold up all later ones. */
export const fillPurpose = 'fill';

/** The sender's rules for the application's purposes. */
export interface PurposeRules<Purpose extends string = string> {
  /** Purposes that the relayer's wallet sends while it has gas. That wallet sends no others. */
  readonly relayed: readonly Purpose[];
  /** Purposes that the other wallets send only while they keep their gas reserve for all other purposes. */
  readonly withinReserve: readonly Purpose[];
}

/** A call for one of the wallets, and its purpose. */
export interface SendCall<Purpose extends string = string> {
  readonly purpose: Purpose;
  readonly to: Hex;
  readonly data: Hex;
}

/** A call to plan. */
export interface SendRequest<Purpose extends string = string> extends SendCall<Purpose> {
  /** The relayer's wallet sends this in place of `data`. Absent: the same. Only the relayer's wallet sends it. */
  readonly dataByRelayer?: Hex;
}

/** A call with its wallet, gas and fees; good for a few minutes. Fees are in wei per gas. */
export interface SendPlan extends SendCall {
  readonly chainId: number;
  /** The wallet that sends it. */
  readonly wallet: Hex;
  readonly gasLimit: bigint;
  readonly maxFee: bigint;
  readonly priorityFee: bigint;
  /** The base fee of the next block. */
  readonly baseFee: bigint;
  /** The wallet's next nonce at a final block: smaller nonces can never be used again. */
  readonly nonceFloor: bigint;
}

/** The call would revert if it were sent now. `data` is the revert data, `0x` when the node does not report it. */
export interface RevertedPlan {
  readonly reverted: true;
  readonly data: Hex;
  /** The call would not revert, but would use gas of the wallets' reserve. */
  readonly isWithheld?: true;
}

/** A stored transaction, not yet broadcast. The hash changes when fees are raised; the id does not. */
export interface RecordedTransaction {
  readonly transactionId: bigint;
  readonly txHash: Hex;
}

/** The outcome of a transaction. */
export interface SentOutcome {
  readonly transactionId: bigint;
  readonly chainId: number;
  readonly purpose: string;
  /**
   * succeeded and failed (reverted): final by the chain's policy. superseded: a transaction that this database does
   * not know took the nonce, so none of ours can be mined. The work must be recorded again.
   */
  readonly status: Exclude<SentStatus, 'pending'>;
  /** The attempt in the final block; for a superseded transaction the last attempt. */
  readonly txHash: Hex;
  /** Undefined for a superseded transaction. */
  readonly blockTime: Date | undefined;
}

/**
 * Receives each outcome once, in the database transaction that stores it, and again when its final block was
 * reverted. Fills have no handler and are not reported.
 */
export type OutcomeHandler = (transaction: Transaction, outcome: SentOutcome) => Promise<void>;

/** A call needs more gas than one transaction may have: split it. */
export class GasLimitExceeded extends RangeError {
  override readonly name = 'GasLimitExceeded';
}
