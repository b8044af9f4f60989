import type { ChainCursor } from './cursor.ts';

/** What following one chain remembers between rounds. Each round returns the next one. Losing it costs a few requests. */
export interface WatcherState {
  /**
   * What the last round found. behind: there is more to fetch at once. halted: nothing moves until an operator resumes it. contested: another
   * process or an operator moved the chain during the round.
   */
  readonly found: 'idle' | 'behind' | 'halted' | 'contested';
  /** The last round moved the head. */
  readonly hasMoved: boolean;
  /** Blocks asked for at once. Each failure halves it, for nodes with lower limits. */
  readonly batchSize: number;
  /** Monotonic time since which nodes have reported a lower final block than ours. */
  readonly wentBackAtMs: number | undefined;
  /** A final height that an operator has accepted although nodes report a lower one. */
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
  /** The stored cursor after the last step. */
  readonly cursor: ChainCursor;
}

/** Whether the chain is halted: nothing of it moves until an operator resumes it. */
export function isHalted({ cursor }: Pick<Round, 'cursor'>): boolean {
  return cursor.haltedReason !== '';
}
