import { hash } from 'node:crypto';
import type { Queryable } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Limits, RateLimits } from './rate-limit.ts';
import { countRequests, deleteFullBuckets, takeExactly } from './shared-limits.sql.ts';
import { type Rate, rateVerdictOf, type Take, type TokenBuckets, tokenBuckets } from './token-bucket.ts';

/**
 * Callers of one limit that one exchange tells of, those with most requests first. So an attacker with many addresses
 * makes a bounded number of rows, and hides no caller with many requests.
 */
const toldOfLimit = 200;
/** Rows that one exchange removes. */
const removedAtOnce = 50_000;
const removeEveryMs = 10_000;

/**
 * Limits that processes share through the database. Each counts in memory, so that no request waits, and `exchange` adds
 * what it counted and learns the sums. Between two exchanges a process may let pass what it would alone; what was too much is
 * taken from what the caller may do next. Without the database, each process holds the limits for itself.
 */
export function sharedLimits(
  rates: RateLimits,
  { clock, db }: { readonly clock: Clock; readonly db: Queryable },
): { readonly limits: Limits; readonly exchange: () => Promise<void> } {
  const named = namedBuckets(clock);
  let countedToMs = clock.monotonicMs();
  let removedAtMs = Number.NEGATIVE_INFINITY;
  const exchange = async (): Promise<void> => {
    const atMs = clock.monotonicMs();
    const spanMicros = BigInt(Math.round((atMs - countedToMs) * 1_000));
    countedToMs = atMs;
    const told = named.all().flatMap(({ name, rate, buckets }) =>
      buckets.takeUnreported(toldOfLimit).map(({ caller, count }) => ({
        bucket: bucketIdOf(name, caller),
        costMicros: microsOf(rate, count),
        learn: (aheadMicros: bigint) => buckets.lower(caller, tokensOf(rate, aheadMicros), atMs),
      })),
    );
    if (told.length > 0) {
      const learners = new Map(told.map(({ bucket, learn }) => [bucket.toString('hex'), learn]));
      const rows = await db.query(countRequests, {
        buckets: told.map(({ bucket }) => bucket),
        costsMicros: told.map(({ costMicros }) => costMicros),
        spanMicros,
      });
      for (const row of rows) learners.get(row.bucket.toString('hex'))?.(row.ahead_micros);
    }
    if (atMs - removedAtMs < removeEveryMs) return;
    removedAtMs = atMs;
    await db.query(deleteFullBuckets, { limit: removedAtOnce });
  };
  const exactly: Limits['exactly'] = (name, rate) => async (caller) => {
    const [row] = await db.query(takeExactly, {
      bucket: bucketIdOf(name, caller),
      costMicros: microsOf(rate, 1),
      burstMicros: microsOf(rate, rate.burst),
    });
    const ahead = row?.ahead_micros ?? microsOf(rate, rate.burst);
    return rateVerdictOf(rate, row?.is_allowed ?? false, tokensOf(rate, ahead));
  };
  const bucketsOf = (name: string, rate: Rate): Take => named.of(name, rate).take;
  return { limits: { rates, clock, bucketsOf, exactly }, exchange };
}

/** The buckets of each name: doors that name the same limit count together. */
function namedBuckets(clock: Clock) {
  const known = new Map<string, { name: string; rate: Rate; buckets: TokenBuckets }>();
  return {
    of(name: string, rate: Rate): TokenBuckets {
      const found = known.get(name) ?? { name, rate, buckets: tokenBuckets(rate, clock) };
      known.set(name, found);
      return found.buckets;
    },
    all: () => [...known.values()],
  };
}

/** Of one size, whatever a caller sends, and without the addresses of people. */
function bucketIdOf(name: string, caller: string): Buffer {
  return hash('sha256', `${name}\n${caller}`, 'buffer').subarray(0, 16);
}

/** Microseconds in which a bucket gets so many tokens. */
function microsOf({ count, seconds }: Rate, tokens: number): bigint {
  return BigInt(Math.round((tokens * seconds * 1_000_000) / count));
}

/** The tokens of a bucket that is full again after so many microseconds; below zero when more was taken than there was. */
function tokensOf({ burst, count, seconds }: Rate, aheadMicros: bigint): number {
  return burst - (Math.max(0, Number(aheadMicros)) * count) / (seconds * 1_000_000);
}
