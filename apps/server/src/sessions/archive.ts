import type { Database, Transaction } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { lockCursors, moveEnded } from './archive.sql.ts';

/** After how many days ended sessions move to the archive. */
export interface ArchivePolicy {
  readonly unpaidAfterDays: number;
  readonly paidAfterDays: number;
}

const dayMs = 86_400_000;
/** Sessions of each kind that one transaction moves, some hundredths of a second of work. */
const archiveBatch = 500;
const archiveIntervalMs = 60_000;
/** Between two batches others come first: so a worker moves a thousand sessions a second at most. */
const pauseMs = 500;

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
  const before = (days: number) => new Date(now.getTime() - days * dayMs);
  await transaction.query(lockCursors);
  const given = { unpaidBefore: before(unpaidAfterDays), paidBefore: before(paidAfterDays), limit };
  const [row] = await transaction.query(moveEnded, given);
  return Number(row?.moved ?? 0n);
}

/** Archives in batches until the signal aborts. */
export function runArchive(
  deps: {
    readonly db: Database;
    readonly clock: Clock;
    readonly log: Log;
    readonly policy: ArchivePolicy;
  },
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, policy } = deps;
  const rounds = { ...deps, intervalMs: archiveIntervalMs, failure: 'sessions.archive_failed' };
  return runRounds(rounds, signal, async () => {
    const moved = await db.transaction((transaction) =>
      archiveSessions(transaction, policy, clock.now(), archiveBatch),
    );
    if (moved < archiveBatch) return false;
    await clock.sleep(pauseMs, signal);
    return true;
  });
}
