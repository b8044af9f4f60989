import type { Transaction } from '@florin/pg';
import type { Hex } from 'viem';
import type { SentStatus } from './sent.machine.ts';

/** The sender's own purpose: a transaction of nothing that uses a nonce which would hold up all later ones. */
export const fillPurpose = 'fill';

/** How the application's purposes differ for the sender. */
export interface PurposeRules<Purpose extends string = string> {
  /** Sent by the relayer's wallet while it has gas. That wallet sends nothing else. */
  readonly relayed: readonly Purpose[];
  /** Sent by the other wallets only while these keep their reserve of gas for all other purposes. */
  readonly withinReserve: readonly Purpose[];
}

/** A call that one of the wallets is to make, and what it is for. */
export interface SendCall<Purpose extends string = string> {
  readonly purpose: Purpose;
  readonly to: Hex;
  readonly data: Hex;
}

/** A call to be planned. */
export interface SendRequest<Purpose extends string = string> extends SendCall<Purpose> {
  /** What the relayer's wallet sends in place of `data`; absent: the same. No other wallet sends it. */
  readonly dataByRelayer?: Hex;
}

/** A call with its wallet, gas and fees; good for a few minutes. Fees are in wei per gas. */
export interface SendPlan extends SendCall {
  readonly chainId: number;
  /** The wallet that is to send it. */
  readonly wallet: Hex;
  readonly gasLimit: bigint;
  readonly maxFee: bigint;
  readonly priorityFee: bigint;
  /** Of the next block. */
  readonly baseFee: bigint;
  /** The wallet's next nonce at a final block: no smaller nonce can ever be used again. */
  readonly nonceFloor: bigint;
}

/** The call would revert if it were sent now; `data` is what it reverts with, `0x` when the node does not say. */
export interface RevertedPlan {
  readonly reverted: true;
  readonly data: Hex;
  /** It would not revert, but would use gas of the wallets' reserve. */
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
   * succeeded and failed (reverted): final by the chain's policy. superseded: a transaction of the wallet that this
   * database does not know took the nonce, so none of ours can be mined. The work has to be recorded again.
   */
  readonly status: Exclude<SentStatus, 'pending'>;
  /** The attempt in the final block; for a superseded transaction the last attempt. */
  readonly txHash: Hex;
  /** Undefined for a superseded transaction. */
  readonly blockTime: Date | undefined;
}

/**
 * Gets each outcome once, in the database transaction that stores it, and again when its final block was taken back.
 * Fills have no owner and are not reported.
 */
export type OutcomeHandler = (transaction: Transaction, outcome: SentOutcome) => Promise<void>;

/** A call needs more gas than a transaction may have: it has to be made in parts. */
export class GasLimitExceeded extends RangeError {
  override readonly name = 'GasLimitExceeded';
}
