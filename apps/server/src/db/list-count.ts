import type { Transaction } from '@florin/pg';
import { addListChanges, lockListCounts } from './list-count.sql.ts';

/**
 * Moves up to `limit` changes of lists into their totals, so that readers sum few changes. Totals are exact even if this is late.
 * False when none are left, or another worker is active.
 */
export async function addUpLists(transaction: Transaction, limit: number): Promise<boolean> {
  const [lock] = await transaction.query(lockListCounts);
  if (lock?.is_mine !== true) return false;
  const [added] = await transaction.query(addListChanges, { limit });
  return added !== undefined && added.taken >= limit;
}
