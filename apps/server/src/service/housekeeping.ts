import type { Database } from '@florin/pg';
import { runSealing } from '#ledger/seal.ts';
import { deleteOldAnswers } from '#merchants/idempotency.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import { type ReconcileDeps, runReconciliation } from '#reconcile/reconcile.ts';
import { expireSessions } from '#sessions/session.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';

export interface HousekeepingDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The public origin, without a slash at the end. */
  readonly origin: string;
}

/** Time between two looks for sessions that have expired. */
const expiryIntervalMs = 1_000;
/** Sessions expired in one transaction. */
const expiryBatch = 200;
/** Time between two looks for answers to idempotency keys that are too old, and how many go at once. */
const answerIntervalMs = 60_000;
const answerBatch = 1_000;

/** Expires sessions until the signal aborts. */
export function runExpiry(deps: HousekeepingDeps, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = deps;
  return runRounds(
    { clock, log, intervalMs: expiryIntervalMs, failure: 'sessions.expiry_failed' },
    signal,
    async () => {
      const count = await db.transaction((transaction) => expireSessions(transaction, deps, expiryBatch));
      // A batch ends at a budget of bytes, too.
      return count > 0;
    },
  );
}

/** Deletes the answers to idempotency keys that are too old until the signal aborts. */
export function runAnswerHousekeeping(deps: HousekeepingDeps, signal: AbortSignal): Promise<void> {
  const { db, clock, log } = deps;
  const rounds = { clock, log, intervalMs: answerIntervalMs, failure: 'idempotency.housekeeping_failed' };
  return runRounds(rounds, signal, async () => {
    const count = await deleteOldAnswers(db, clock.now(), answerBatch);
    return count >= answerBatch;
  });
}

/** Seals the ledger, and compares it with the chains, until the signal aborts. */
export function runBooks(
  deps: Omit<ReconcileDeps, 'intervalMs'> & { readonly reconcileIntervalMs?: number },
  signal: AbortSignal,
): Promise<void>[] {
  const { chains, rpcOf, db, clock, log, reconcileIntervalMs: intervalMs } = deps;
  const every = intervalMs === undefined ? {} : { intervalMs };
  return [
    runSealing({ db, clock, log }, signal),
    runReconciliation({ chains, rpcOf, db, clock, log, ...every }, signal),
  ];
}
