import type { Limits, RateLimits } from '#http/rate-limit.ts';
import { type Rate, type TokenBuckets, tokenBuckets } from '#http/token-bucket.ts';
import type { Clock } from '#outside/clock.ts';

/** Limits of one process alone, which shares them with no other. */
export function localLimits(rates: RateLimits, clock: Clock): Limits {
  const known = new Map<string, TokenBuckets>();
  const bucketsOf = (name: string, rate: Rate) => {
    const found = known.get(name) ?? tokenBuckets(rate, clock);
    known.set(name, found);
    return found.take;
  };
  const exactly: Limits['exactly'] = (name, rate) => {
    const take = bucketsOf(name, rate);
    return async (caller) => take(caller);
  };
  return { rates, clock, bucketsOf, exactly };
}
