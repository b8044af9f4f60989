import type { Transaction } from '@florin/pg';
import { daysBefore } from '#outside/clock.ts';
import { lockCursors, moveEnded } from './archive.sql.ts';
import { type OldRowContext, runOldRows } from './old-rows.ts';

/** After how many days ended sessions move to the archive. */
export interface ArchivePolicy {
  readonly unpaidAfterDays: number;
  readonly paidAfterDays: number;
}

/**
 * Moves up to `limit` unpaid and as many paid sessions to the archive, those that ended longest ago, and returns how many.
 * Statements on `sessions` read and change them as before. Their orders and the terms of deposit addresses stay.
 */
export async function archiveSessions(
  transaction: Transaction,
  { unpaidAfterDays, paidAfterDays }: ArchivePolicy,
  now: Date,
  limit: number,
): Promise<number> {
  await transaction.query(lockCursors);
  const [unpaidBefore, paidBefore] = [daysBefore(now, unpaidAfterDays), daysBefore(now, paidAfterDays)];
  const [row] = await transaction.query(moveEnded, { unpaidBefore, paidBefore, limit });
  return Number(row?.moved ?? 0n);
}

/** Archives in batches until the signal aborts. */
export function runArchive(deps: OldRowContext<ArchivePolicy>, signal: AbortSignal): Promise<void> {
  const { db, policy } = deps;
  const batch = (now: Date, limit: number) =>
    db.transaction((transaction) => archiveSessions(transaction, policy, now, limit));
  return runOldRows(deps, { failure: 'sessions.archive_failed', batch }, signal);
}
