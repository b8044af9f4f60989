/** How a node has done lately. Figures are moving averages, so that an old failure fades. */
export interface NodeHealth {
  latencyMs: number;
  /** Of its exchanges, the share that failed; 0 to 1. */
  failureShare: number;
  /** The highest block that it has named; undefined until it has. */
  head: bigint | undefined;
  /** Failures in a row. */
  failures: number;
  /** Answers in a row with the id of another chain. */
  wrongChains: number;
  /** Monotonic time before which the node is asked only when no other is left. */
  retryAtMs: number;
  /** Monotonic time before which it is not asked at all: it was found on another chain or fork. */
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
/** A node that stands later in the configuration must be this much faster to be asked before one that stands earlier. */
const placePenaltyMs = 1_000;
/** What a node loses that always fails, against one that never does. */
const failurePenaltyMs = 10_000;
/** What a node loses for every block that it lags behind the best, up to a limit: a node that boasts gains no more. */
const lagPenaltyMs = 500;
const maxLagBlocks = 20;

export function noteAnswer(health: NodeHealth, latencyMs: number): void {
  health.latencyMs += weight * (latencyMs - health.latencyMs);
  health.failureShare -= weight * health.failureShare;
  health.failures = 0;
}

/** Notes a failure, after which the node is left alone from 0.5 s to a minute. */
export function noteFailure(health: NodeHealth, nowMs: number): void {
  health.failureShare += weight * (1 - health.failureShare);
  health.retryAtMs = nowMs + Math.min(maxBackOffMs, firstBackOffMs * 2 ** Math.min(health.failures, 10));
  health.failures += 1;
}

/** Notes the id of another chain, after which the node is not asked for anything from 2 s to five minutes. */
export function noteWrongChain(health: NodeHealth, nowMs: number): void {
  health.quarantinedUntilMs =
    nowMs + Math.min(maxWrongChainMs, firstWrongChainMs * 2 ** Math.min(health.wrongChains, 10));
  health.wrongChains += 1;
}

/** How good a node is to ask, in milliseconds of penalty: less is better. `place` is its place in the configuration. */
export function penaltyOf(health: NodeHealth, place: number, bestHead: bigint | undefined): number {
  const lag = bestHead === undefined || health.head === undefined ? 0 : Number(bestHead - health.head);
  return (
    place * placePenaltyMs +
    health.latencyMs +
    health.failureShare * failurePenaltyMs +
    Math.min(maxLagBlocks, Math.max(0, lag)) * lagPenaltyMs
  );
}
