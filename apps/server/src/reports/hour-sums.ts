import type { Transaction } from '@florin/pg';
import { addHourChanges, lockHourSums } from './period-sums.sql.ts';

/**
 * Adds up to `limit` payments to the sums of their hours. Sums of periods are exact even if this is late. False when none are
 * left, or another worker is active.
 */
export async function addUpHours(transaction: Transaction, limit: number): Promise<boolean> {
  const [lock] = await transaction.query(lockHourSums);
  if (lock?.is_mine !== true) return false;
  const [added] = await transaction.query(addHourChanges, { limit });
  return added !== undefined && added.taken >= limit;
}
