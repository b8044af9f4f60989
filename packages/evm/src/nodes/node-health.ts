/** The recent health of a node. Figures are moving averages, so that old failures fade. */
export interface NodeHealth {
  latencyMs: number;
  /** The share of its exchanges that failed; 0 to 1. */
  failureShare: number;
  /** The highest block that the node has reported; undefined before the first. */
  head: bigint | undefined;
  /** Failures in a row. */
  failures: number;
  /** Consecutive answers with the id of another chain. */
  wrongChains: number;
  /** Monotonic time until which the node is used only when all others fail. */
  retryAtMs: number;
  /** Monotonic time until which the node gets no requests, because it was on another chain or fork. */
  quarantinedUntilMs: number;
}

export function freshHealth(): NodeHealth {
  return {
    latencyMs: 0,
    failureShare: 0,
    head: undefined,
    failures: 0,
    wrongChains: 0,
    retryAtMs: Number.NEGATIVE_INFINITY,
    quarantinedUntilMs: Number.NEGATIVE_INFINITY,
  };
}

const weight = 0.2;
const firstBackOffMs = 500;
const maxBackOffMs = 60_000;
const firstWrongChainMs = 2_000;
const maxWrongChainMs = 300_000;
/** A node must be this much faster than one that comes earlier in the configuration to be preferred. */
const placePenaltyMs = 1_000;
/** The penalty of a node that always fails, compared with one that never does. */
const failurePenaltyMs = 10_000;
/**
 * The penalty for each block that a node lags behind the best, up to a limit. The limit keeps a node from gaining
 * more by reporting a false height.
 */
const lagPenaltyMs = 500;
const maxLagBlocks = 20;

export function noteAnswer(health: NodeHealth, latencyMs: number): void {
  health.latencyMs += weight * (latencyMs - health.latencyMs);
  health.failureShare -= weight * health.failureShare;
  health.failures = 0;
}

/** Records a failure. The node then pauses for 0.5 s up to a minute. */
export function noteFailure(health: NodeHealth, nowMs: number): void {
  health.failureShare += weight * (1 - health.failureShare);
  health.retryAtMs = nowMs + Math.min(maxBackOffMs, firstBackOffMs * 2 ** Math.min(health.failures, 10));
  health.failures += 1;
}

/** Records the id of another chain. The node then gets no requests for 2 s up to five minutes. */
export function noteWrongChain(health: NodeHealth, nowMs: number): void {
  health.quarantinedUntilMs =
    nowMs + Math.min(maxWrongChainMs, firstWrongChainMs * 2 ** Math.min(health.wrongChains, 10));
  health.wrongChains += 1;
}

/** The penalty of a node in milliseconds: less is better. `place` is its place in the configuration. */
export function penaltyOf(health: NodeHealth, place: number, bestHead: bigint | undefined): number {
  const lag = bestHead === undefined || health.head === undefined ? 0 : Number(bestHead - health.head);
  return (
    place * placePenaltyMs +
    health.latencyMs +
    health.failureShare * failurePenaltyMs +
    Math.min(maxLagBlocks, Math.max(0, lag)) * lagPenaltyMs
  );
}
