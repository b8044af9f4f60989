import type { Rpc } from '../rpc/rpc.ts';
import type { MoveContext } from './chain-move.ts';
import type { WatchedContracts } from './log-check.ts';

/** Everything a round needs, and the little it remembers. Losing it costs a few requests. */
export interface WatcherState extends MoveContext {
  readonly rpc: Rpc;
  readonly watched: WatchedContracts;
  /** The last round moved the chain. */
  hasMoved: boolean;
  /** Blocks asked for at once: halved by each failure, for nodes that bear less. */
  batchSize: number;
  prunedNumber: bigint;
  term: bigint | undefined;
  /** Somebody else has moved the cursor since the last round. */
  isContested: boolean;
  /** Monotonic time since when nodes have called less final than we know to be. */
  wentBackAtMs: number | undefined;
  /** A final height that an operator has let stand although nodes call less final. */
  acceptedFinal: bigint | undefined;
  quorumMissedAtMs: number;
  /** How often in a row blocks could not be read again, and the monotonic time before which that is not tried. */
  backfillFailures: number;
  backfillAtMs: number;
}
