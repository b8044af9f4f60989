import type { Transaction } from '@florin/pg';
import type { Hex } from 'viem';
import type { BlockHeader, LogContent, RpcLog } from '../nodes/actions.ts';
import type { FollowedChain } from './chain.ts';

/** One event of a watched contract in a canonical block. An application narrows the names to its own. */
export interface FollowedEvent {
  readonly chainId: number;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly blockTime: Date;
  readonly logIndex: number;
  readonly txHash: Hex;
  readonly contract: string;
  readonly name: string;
  /** The subject of the event: 32 bytes of the application's choice. */
  readonly orderId: Hex;
  readonly arguments: Readonly<Record<string, string>>;
}

export interface Block {
  readonly number: bigint;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly time: Date;
}

/** The logs of one chain that the application wants, and their decoding into events. */
export interface LogSource<Event extends FollowedEvent = FollowedEvent> {
  /** The contracts whose logs are wanted, in lower case. */
  readonly addresses: readonly Hex[];
  /**
   * Names of events that `decode` derives from several logs, and that no contract emits. A second reading of a block
   * deletes those that it does not derive again.
   */
  readonly derivedNames: readonly Event['name'][];
  /** Whether a block or a receipt with this bloom can have wanted logs. */
  mayHaveEvents(bloom: Hex): boolean;
  isWanted(log: LogContent): boolean;
  /**
   * Decodes the events of a block, in order, from all its wanted logs. Their place in the block is checked or proven.
   * Throws `RpcAnswerInvalid` for a log that the contracts cannot have written.
   */
  decode(header: BlockHeader, logs: readonly RpcLog[]): readonly Event[];
}

/**
 * The application's work as a chain moves. Each call runs in the transaction that moves the chain's cursor and stores
 * or deletes the events. Both happen or neither does.
 */
export interface BlockHandler<
  Chain extends FollowedChain = FollowedChain,
  Event extends FollowedEvent = FollowedEvent,
> {
  /**
   * Names of events that are counted per transaction, because one subject can have several. A dropped one returns only
   * with its own transaction. Any other event of a subject may return with another transaction.
   */
  readonly perTransaction?: readonly Event['name'][];
  /** A new canonical block with events. Not called for blocks without events. */
  onBlock(transaction: Transaction, chain: Chain, block: Block, events: readonly Event[]): Promise<void>;
  /** Blocks were reorged out. Their events are deleted from `chain_events`. */
  onReorg(transaction: Transaction, chain: Chain, removed: readonly Event[]): Promise<void>;
  /** The final anchor moved up to `block`, and `events` became final with it. Called even without events. */
  onFinal(transaction: Transaction, chain: Chain, block: Block, events: readonly Event[]): Promise<void>;
  /**
   * Everything above `anchor` is reverted, final or not: a reorganisation went below finality, and an operator has
   * resumed the chain. Called before `onReorg` and `onDropped`.
   */
  onRewind?(transaction: Transaction, chain: Chain, anchor: Block): Promise<void>;
  /**
   * Final events were reverted after an operator resumed the chain. They are deleted from `chain_events`. Those that
   * return pass through `onBlock` and `onFinal` again. Without this method they change nothing.
   */
  onDropped?(transaction: Transaction, chain: Chain, dropped: readonly Event[]): Promise<void>;
  /**
   * A second reading of a final block found more events than the first node reported, so these derived events were
   * wrong. They are deleted from `chain_events`. `onBlock` and `onFinal` get the missing events next.
   */
  onMisread?(transaction: Transaction, chain: Chain, derived: readonly Event[]): Promise<void>;
}

/** Runs handlers one after the other in the same transaction. */
export function inOrder<Chain extends FollowedChain, Event extends FollowedEvent>(
  ...handlers: readonly BlockHandler<Chain, Event>[]
): BlockHandler<Chain, Event> {
  return {
    perTransaction: handlers.flatMap((handler) => handler.perTransaction ?? []),
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
