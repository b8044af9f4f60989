import type { StoredOrder } from '#orders/stored-order.ts';
import type { SettlementSettings } from './context.ts';
import type { Leg } from './leg.ts';

/** A due leg and its order. */
export interface Item {
  readonly leg: Leg;
  readonly order: StoredOrder;
}

/**
 * Chooses at most `count` items; the oldest come first in `items`. Takes the oldest with all that share its key, then
 * the next oldest with all that share its own. So neighbours share a transfer, and no item waits forever.
 */
export function chooseGroups<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  count: number,
): readonly T[] {
  const groups = Map.groupBy(items, keyOf);
  return [...groups.values()].flat().slice(0, count);
}

/** Whether due settle and payout legs wait for others to join them. Legs that failed before do not wait again. */
export function isGathering(
  legs: readonly Pick<Leg, 'name' | 'attempts' | 'createdAt'>[],
  { windowSeconds, batchSize }: Pick<SettlementSettings, 'windowSeconds' | 'batchSize'>,
  now: Date,
): boolean {
  if (windowSeconds === 0 || legs.some(({ name }) => name === 'mint' || name === 'refund')) return false;
  if (legs.length >= batchSize || legs.some(({ attempts }) => attempts > 0)) return false;
  const oldestMs = Math.min(...legs.map(({ createdAt }) => createdAt.getTime()));
  return now.getTime() - oldestMs < windowSeconds * 1_000;
}
