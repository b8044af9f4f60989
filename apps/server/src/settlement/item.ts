import type { StoredOrder } from '#orders/stored-order.ts';
import type { Leg } from './leg.ts';

/** A leg that is due, and its order. */
export interface Item {
  readonly leg: Leg;
  readonly order: StoredOrder;
}

/**
 * Takes at most `count` items: the oldest with all that share its key, then the next oldest with its own, so that
 * neighbours share a transfer and nobody is passed over for ever. Items come oldest first.
 */
export function chooseGroups<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  count: number,
): readonly T[] {
  const groups = Map.groupBy(items, keyOf);
  return [...groups.values()].flat().slice(0, count);
}
