import type { BlockHandler, FollowedEvent } from '@florin/evm';
import type { Chain } from '#chains/chain.ts';

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
  | 'FeeAccrued'
  | 'FeesWithdrawn'
  | 'Withdrawn'
  /** No contract emits it: tokens moved without an event of our contracts (`transfer.ts`). */
  | 'Transferred';

/** The contract that emitted the event. The transmitter is Circle's: only mints for our orders are events here. */
export type ContractName = 'gateway' | 'vault' | 'transmitter';

/** One event of our contracts in a canonical block. Its `orderId` is zero for events without an order. */
export interface ChainEvent extends FollowedEvent {
  readonly contract: ContractName;
  readonly name: ChainEventName;
  /** Decoded arguments by name; integers as decimal strings, addresses checksummed. */
  readonly arguments: Readonly<Record<string, string>>;
}

/** A room's work as a chain moves. */
export type ChainHandler = BlockHandler<Chain, ChainEvent>;
