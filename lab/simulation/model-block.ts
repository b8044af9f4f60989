import type { Hex } from '@florin/protocol/order.ts';
import type { Call, ContractState, ModelLog } from './contract-state.ts';

/** A transaction that has been sent. */
export interface ModelTransaction extends Call {
  readonly hash: Hex;
  readonly nonce: number;
  readonly maxFee: bigint;
  readonly tip: bigint;
}

/** A transaction in a block. */
export interface MinedTransaction {
  readonly transaction: ModelTransaction;
  readonly succeeded: boolean;
  readonly logs: readonly ModelLog[];
  /** Position of the first log within the block. */
  readonly firstLogIndex: number;
  readonly bloom: Hex;
}

export interface ModelBlock {
  readonly number: number;
  readonly hash: Hex;
  readonly parent: ModelBlock | undefined;
  readonly timeSeconds: number;
  readonly baseFee: bigint;
  readonly transactions: readonly MinedTransaction[];
  readonly bloom: Hex;
  readonly state: ContractState;
  /** The next nonce of each sender. */
  readonly nonces: ReadonlyMap<string, number>;
  /** Further fields that nodes report, besides hash and transactions. */
  readonly header: Readonly<Record<string, Hex>>;
}
