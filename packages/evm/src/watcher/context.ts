import type { Database } from '@florin/pg';
import type { Clock, Log } from '../context.ts';
import type { Rpc } from '../rpc.ts';
import type { FollowedChain } from './chain.ts';
import type { BlockHandler, FollowedEvent, LogSource } from './event.ts';

/** What reading the blocks of one chain takes. */
export interface ReadContext<Event extends FollowedEvent = FollowedEvent> {
  readonly chain: FollowedChain;
  readonly rpc: Rpc;
  readonly source: LogSource<Event>;
}

/** What storing the moves of one chain takes. */
export interface MoveContext<
  Chain extends FollowedChain = FollowedChain,
  Event extends FollowedEvent = FollowedEvent,
> {
  readonly chain: Chain;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly handler: BlockHandler<Chain, Event>;
  /** The term in which this process leads. Undefined: the leader is not compared, the cursor's hashes still are. */
  readonly term?: bigint | undefined;
}

/** What following one chain takes. Nothing in it changes. */
export interface Watcher<
  Chain extends FollowedChain = FollowedChain,
  Event extends FollowedEvent = FollowedEvent,
> extends ReadContext<Event>,
    MoveContext<Chain, Event> {
  readonly chain: Chain;
}
