import type { Rpc } from '@florin/evm';
import type { MoveContext } from './chain-move.ts';
import type { ChainCursor } from './cursor.ts';
import type { WatchedContracts } from './log-check.ts';

/** What following one chain takes. Nothing in it changes. */
export interface Watcher extends MoveContext {
  readonly rpc: Rpc;
  readonly watched: WatchedContracts;
}

/** What following one chain remembers between rounds. Each round returns the next one. Losing it costs a few requests. */
export interface WatcherState {
  /**
   * What the last round found. behind: there is more to fetch at once. halted: the breaker has tripped. contested: another
   * process or an operator moved the chain during the round.
   */
  readonly found: 'idle' | 'behind' | 'halted' | 'contested';
  /** The last round moved the head. */
  readonly hasMoved: boolean;
  /** Blocks asked for at once. Each failure halves it, for nodes that bear less. */
  readonly batchSize: number;
  /** Monotonic time since which nodes have called less final than is known to be. */
  readonly wentBackAtMs: number | undefined;
  /** A final height that an operator has let stand although nodes call less final. */
  readonly acceptedFinal: bigint | undefined;
  /** Monotonic time of the last log entry about a missing quorum. */
  readonly quorumMissedAtMs: number;
  /** How often in a row blocks could not be read again, and the monotonic time of the next attempt. */
  readonly backfillFailures: number;
  readonly backfillAtMs: number;
}

export const maxBatchSize = 100;

export const freshState: WatcherState = {
  found: 'idle',
  hasMoved: false,
  batchSize: maxBatchSize,
  wentBackAtMs: undefined,
  acceptedFinal: undefined,
  quorumMissedAtMs: Number.NEGATIVE_INFINITY,
  backfillFailures: 0,
  backfillAtMs: Number.NEGATIVE_INFINITY,
};

/** The state in the middle of a round: its steps take it and return the next one. */
export interface Round extends WatcherState {
  /** Where the chain stands in the database after the last step. */
  readonly cursor: ChainCursor;
}

/** Whether the breaker has tripped: nothing of the chain moves until an operator resumes it. */
export function isHalted({ cursor }: Pick<Round, 'cursor'>): boolean {
  return cursor.haltedReason !== '';
}
