import type { Transaction } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { SentStatus } from './sent.machine.ts';

/** What a transaction is for; `payout` pays a merchant, be it by a vault or by a mint. `fill` takes up a nonce that would hold up all later ones. */
export type SendPurpose =
  | 'settle'
  | 'payout'
  | 'mint'
  | 'refund'
  | 'relay'
  | 'collect'
  | 'rescue'
  | 'add'
  | 'fill';

/** A call that a wallet of the service is to make. */
export interface SendCall {
  readonly purpose: SendPurpose;
  readonly to: Hex;
  readonly data: Hex;
}

/** A call that one of the service's wallets is to make. */
export interface SendRequest extends SendCall {
  /** What the relayer's wallet sends in place of `data`, which it may do shorter; absent: the same. No other wallet sends it. */
  readonly dataByRelayer?: Hex;
}

/** A call with all that the network had to say about it; good for a few minutes. Fees are in wei per gas. */
export interface SendPlan extends SendCall {
  readonly chainId: number;
  /** Whose transaction it is to be. */
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
  /** It would not revert, but takes gas that is kept for settlements and returns. */
  readonly isWithheld?: true;
}

/** A stored transaction, not yet broadcast. The hash changes when fees are raised; the id does not. */
export interface RecordedTransaction {
  readonly transactionId: bigint;
  readonly txHash: Hex;
}

/** What became of a transaction, for good. */
export interface SentOutcome {
  readonly transactionId: bigint;
  readonly chainId: number;
  readonly purpose: SendPurpose;
  /**
   * succeeded and failed (reverted): final by the chain's policy. superseded: another transaction of the wallet, not of
   * this database, took the nonce, and none of ours can ever be mined; the work has to be recorded again.
   */
  readonly status: Exclude<SentStatus, 'pending'>;
  /** The attempt in the final block; for a superseded transaction the last attempt. */
  readonly txHash: Hex;
  /** Undefined for a superseded transaction. */
  readonly blockTime: Date | undefined;
}

/**
 * Told once per transaction, inside the transaction that stores the outcome; once more when its block was final and was
 * taken back. Not told of `fill`.
 */
export type OutcomeHandler = (transaction: Transaction, outcome: SentOutcome) => Promise<void>;

/** A call needs more gas than a transaction may have: it has to be made in parts. */
export class GasLimitExceeded extends RangeError {
  override readonly name = 'GasLimitExceeded';
}
