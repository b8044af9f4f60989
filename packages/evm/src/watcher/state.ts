import type { ChainCursor } from './cursor.ts';

/** The state of one chain's watcher between rounds. Each round returns the next state. Losing it costs a few requests. */
export interface WatcherState {
  /**
   * The result of the last round. behind: there is more to fetch at once. halted: the chain stops until an operator
   * resumes it. contested: another process or an operator moved the chain during the round.
   */
  readonly found: 'idle' | 'behind' | 'halted' | 'contested';
  /** Whether the last round moved the head. */
  readonly hasMoved: boolean;
  /** Blocks per request. Each failure halves it, for nodes with lower limits. */
  readonly batchSize: number;
  /** Monotonic time since which nodes have reported a lower final block than ours. */
  readonly wentBackAtMs: number | undefined;
  /** A final height that an operator has accepted although nodes report a lower one. */
  readonly acceptedFinal: bigint | undefined;
  /** Monotonic time of the last log entry about a missing quorum. */
  readonly quorumMissedAtMs: number;
  /** Consecutive failures of reading blocks again, and the monotonic time of the next attempt. */
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

/** The state within a round. Each step takes it and returns the next one. */
export interface Round extends WatcherState {
  /** The stored cursor after the last step. */
  readonly cursor: ChainCursor;
}

/** Whether the chain is halted until an operator resumes it. */
export function isHalted({ cursor }: Pick<Round, 'cursor'>): boolean {
  return cursor.haltedReason !== '';
}
