import type { Clock } from '#outside/clock.ts';

/** `count` requests per `seconds`; `burst` of them may come at once after a pause. */
export interface Rate {
  readonly count: number;
  readonly seconds: number;
  readonly burst: number;
}

/** Whether one more request may pass, and the caller's quota. */
export interface RateVerdict {
  readonly isAllowed: boolean;
  /** Requests that may still pass at once. */
  readonly remaining: number;
  /** Whole seconds until the full burst is available. */
  readonly resetSeconds: number;
  /** Whole seconds until one more request may pass; 0 when it may now. */
  readonly retryAfterSeconds: number;
}

/**
 * Takes a token of a caller. A request that has waited, for its key to be found during a failover say, counts at the time when it
 * came: all that waited are asked about at one moment, and would be refused as a burst.
 */
export type Take = (caller: string, waitedMs?: number) => RateVerdict;

/** What one process counts, and what it tells others of it. */
export interface TokenBuckets {
  readonly take: Take;
  /**
   * The callers of late, with their requests that passed here and were not told to others: at most `most` callers, those with
   * most requests first. They count as told. What is left out is told when its caller comes again.
   */
  readonly takeUnreported: (most: number) => readonly { readonly caller: string; readonly count: number }[];
  /** A caller had so many tokens over all processes at a time of the monotonic clock; only ever lowers what it has here. */
  readonly lower: (caller: string, tokens: number, atMs: number) => void;
}

interface Bucket {
  /** Below zero after other processes let more pass than there were. */
  tokens: number;
  filledAtMs: number;
  unreported: number;
}

/**
 * The most callers in one set of buckets: about 10 MB. The caller that was idle longest is dropped, and starts afresh.
 */
const maxCallers = 50_000;

/** Token buckets in memory, one per caller: each request takes a token, and tokens refill evenly. A refused request costs nothing. */
export function tokenBuckets(rate: Rate, clock: Clock, capacity: number = maxCallers): TokenBuckets {
  const buckets = new Map<string, Bucket>();
  const unreported = new Map<string, Bucket>();
  const perMs = rate.count / (rate.seconds * 1_000);
  const filled = (bucket: Bucket | undefined, atMs: number): number => {
    const elapsedMs = bucket === undefined ? 0 : Math.max(0, atMs - bucket.filledAtMs);
    return Math.min(rate.burst, (bucket?.tokens ?? rate.burst) + elapsedMs * perMs);
  };
  const visit = (caller: string, waitedMs: number): Bucket => {
    const cameAtMs = clock.monotonicMs() - waitedMs;
    const known = buckets.get(caller);
    // Deleted and set again, so that the map's order is the order of use.
    buckets.delete(caller);
    const bucket = known ?? { tokens: rate.burst, filledAtMs: cameAtMs, unreported: 0 };
    bucket.tokens = filled(known, cameAtMs);
    // A request that came before another, and is asked about later, fills nothing.
    bucket.filledAtMs = Math.max(cameAtMs, bucket.filledAtMs);
    buckets.set(caller, bucket);
    const oldest = buckets.keys().next();
    if (buckets.size > capacity && oldest.done !== true) {
      buckets.delete(oldest.value);
      unreported.delete(oldest.value);
    }
    return bucket;
  };
  return {
    take(caller, waitedMs = 0) {
      const bucket = visit(caller, waitedMs);
      // Slightly less than one: rounding of fractions may miss a whole token.
      const isAllowed = bucket.tokens >= 1 - 1e-9;
      if (isAllowed) {
        bucket.tokens = Math.max(0, bucket.tokens - 1);
        bucket.unreported += 1;
      }
      // Also one who was refused: so this process learns how long that must last.
      unreported.set(caller, bucket);
      return rateVerdictOf(rate, isAllowed, bucket.tokens);
    },
    takeUnreported(most) {
      const told = [...unreported]
        .sort(([, one], [, other]) => other.unreported - one.unreported)
        .slice(0, most);
      unreported.clear();
      return told.map(([caller, bucket]) => {
        const count = bucket.unreported;
        bucket.unreported = 0;
        return { caller, count };
      });
    },
    lower(caller, tokens, atMs) {
      const bucket = buckets.get(caller);
      if (bucket === undefined) return;
      const nowMs = clock.monotonicMs();
      const left = tokens + (nowMs - atMs) * perMs - bucket.unreported;
      if (left >= filled(bucket, nowMs)) return;
      bucket.tokens = left;
      bucket.filledAtMs = Math.max(nowMs, bucket.filledAtMs);
    },
  };
}

/** The verdict on one request, with the tokens that its caller has after it; they may be below zero. */
export function rateVerdictOf(rate: Rate, isAllowed: boolean, tokens: number): RateVerdict {
  const secondsFor = (wanted: number) => Math.ceil((Math.max(0, wanted) * rate.seconds) / rate.count - 1e-9);
  return {
    isAllowed,
    remaining: Math.max(0, Math.floor(tokens + 1e-9)),
    resetSeconds: secondsFor(rate.burst - tokens),
    retryAfterSeconds: isAllowed ? 0 : Math.max(1, secondsFor(1 - tokens)),
  };
}
