import type { Transaction } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from './chain.ts';

/** Names of the contract events that the service acts on. */
export type ChainEventName =
  | 'Paid'
  | 'Settled'
  | 'Refunded'
  | 'Reclaimed'
  | 'SettleSkipped'
  | 'SettlementRefunded'
  | 'Rescued'
  | 'PaidOut'
  | 'PayoutSkipped'
  | 'Minted'
  | 'FeesWithdrawn'
  | 'Withdrawn'
  /** None that a contract emits: tokens came or went beyond what its events account for (watcher/transfer.ts). */
  | 'Transferred';

/** Whose event it is. The transmitter is Circle's: of its events, those count that mint for an order of ours. */
export type ContractName = 'gateway' | 'vault' | 'transmitter';

/** One event of our contracts in a canonical block. */
export interface ChainEvent {
  readonly chainId: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly blockTime: Date;
  readonly logIndex: number;
  readonly txHash: Hex;
  readonly contract: ContractName;
  readonly name: ChainEventName;
  /** Zero for events that are about no order. */
  readonly orderId: Hex;
  /** Decoded arguments by name; integers as decimal strings, addresses checksummed. */
  readonly arguments: Readonly<Record<string, string>>;
}

export interface Block {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly time: Date;
}

/**
 * What the service does as a chain moves. Each call runs inside the transaction that moves the chain's cursor and has
 * already stored or deleted the events, so that neither can happen without the other.
 */
export interface ChainHandler {
  /** A new canonical block with events of ours. Not called for blocks without events. */
  onBlock(transaction: Transaction, chain: Chain, block: Block, events: readonly ChainEvent[]): Promise<void>;
  /** Blocks were reorged out; their events are already deleted from `chain_events`. */
  onReorg(transaction: Transaction, chain: Chain, removed: readonly ChainEvent[]): Promise<void>;
  /** The final anchor advanced to `block`; `events` became final by it (marked in `chain_events`). Called even when empty. */
  onFinal(transaction: Transaction, chain: Chain, block: Block, events: readonly ChainEvent[]): Promise<void>;
  /**
   * Everything above `anchor` is taken back, final or not: a reorganisation went below finality, and an operator has let the
   * chain go on. Called before its events are told of.
   */
  onRewind?(transaction: Transaction, chain: Chain, anchor: Block): Promise<void>;
  /**
   * Final events were undone after all: a reorganisation went below finality, and an operator has let the chain go on.
   * They are already deleted from `chain_events`; those that come back are told by `onBlock` and `onFinal` once more.
   * A handler without it leaves everything as it stands.
   */
  onDropped?(transaction: Transaction, chain: Chain, dropped: readonly ChainEvent[]): Promise<void>;
  /**
   * Final transfers that nobody accounted for were parts of other events: a block was read again, and has more of them than
   * a node had told. They are already deleted from `chain_events`; `onBlock` and `onFinal` tell of the others next.
   */
  onMisread?(transaction: Transaction, chain: Chain, transfers: readonly ChainEvent[]): Promise<void>;
}

/** Runs handlers one after the other in the same transaction: first what was paid, then what that settles. */
export function inOrder(...handlers: readonly ChainHandler[]): ChainHandler {
  return {
    async onBlock(...args) {
      for (const handler of handlers) await handler.onBlock(...args);
    },
    async onReorg(...args) {
      for (const handler of handlers) await handler.onReorg(...args);
    },
    async onFinal(...args) {
      for (const handler of handlers) await handler.onFinal(...args);
    },
    async onRewind(...args) {
      for (const handler of handlers) await handler.onRewind?.(...args);
    },
    async onDropped(...args) {
      for (const handler of handlers) await handler.onDropped?.(...args);
    },
    async onMisread(...args) {
      for (const handler of handlers) await handler.onMisread?.(...args);
    },
  };
}
