import type { Database } from '@florin/pg';
import type { Clock, Log } from '../context.ts';
import type { Rpc } from '../nodes/rpc.ts';
import type { FollowedChain } from './chain.ts';
import type { BlockHandler, FollowedEvent, LogSource } from './event.ts';

/** The dependencies for reading the blocks of one chain. */
export interface ReadContext<Event extends FollowedEvent = FollowedEvent> {
  readonly chain: FollowedChain;
  readonly rpc: Rpc;
  readonly source: LogSource<Event>;
}

/** The dependencies for storing the moves of one chain. */
export interface MoveContext<
  Chain extends FollowedChain = FollowedChain,
  Event extends FollowedEvent = FollowedEvent,
> {
  readonly chain: Chain;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly handler: BlockHandler<Chain, Event>;
  /** The term in which this process leads. Undefined: only the cursor's hashes are compared, not the leader. */
  readonly term?: bigint | undefined;
}

/** The dependencies for following one chain. They never change. */
export interface Watcher<
  Chain extends FollowedChain = FollowedChain,
  Event extends FollowedEvent = FollowedEvent,
> extends ReadContext<Event>,
    MoveContext<Chain, Event> {
  readonly chain: Chain;
}
