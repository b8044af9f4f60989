import type { Database, Queryable } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import {
  eraseEventsOfPayer,
  eraseMailsOfPayer,
  eraseOldNetworks,
  eraseOldOrders,
  eraseOldSessions,
  eraseOrdersOfPayer,
  eraseSessionsOfPayer,
  sessionsOfPayer,
} from './erasure.sql.ts';

/** How long personal data of payers is kept, in days. */
export interface ErasurePolicy {
  /** E-mail addresses, after the session's last change. */
  readonly emailsAfterDays: number;
  /** Networks that requests came from, which limits by network need for a day. */
  readonly networksAfterDays: number;
}

const dayMs = 86_400_000;
/** Rows of each kind that one round changes. */
const erasureBatch = 500;
const erasureIntervalMs = 60_000;

/** Erases up to `limit` rows of each kind that are older than the policy keeps them, and returns how many in all. */
export async function eraseOld(
  queryable: Queryable,
  { emailsAfterDays, networksAfterDays }: ErasurePolicy,
  now: Date,
  limit: number,
): Promise<number> {
  const before = (days: number) => new Date(now.getTime() - days * dayMs);
  const sessions = await queryable.query(eraseOldSessions, { before: before(emailsAfterDays), limit });
  const orders = await queryable.query(eraseOldOrders, { before: before(emailsAfterDays), limit });
  const networks = await queryable.query(eraseOldNetworks, { before: before(networksAfterDays), limit });
  return sessions.length + orders.length + networks.length;
}

/** Erases in batches until the signal aborts. */
export function runErasure(
  deps: {
    readonly db: Database;
    readonly clock: Clock;
    readonly log: Log;
    readonly policy: ErasurePolicy;
  },
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, policy } = deps;
  const rounds = { ...deps, intervalMs: erasureIntervalMs, failure: 'sessions.erasure_failed' };
  return runRounds(rounds, signal, async () => {
    const erased = await eraseOld(db, policy, clock.now(), erasureBatch);
    return erased >= erasureBatch;
  });
}

/**
 * Erases a payer's e-mail address wherever the service has it: in sessions, orders and events as it is written, in e-mails
 * and bounces in any case of its letters. A member of the dashboard keeps the e-mails to members. What is on a chain cannot be
 * erased, nor what webhooks delivered or backups hold. Returns the number of sessions.
 */
export async function erasePayer(db: Database, email: string): Promise<number> {
  const member = `"payerEmail":${JSON.stringify(email)}`;
  let erased = 0;
  for (;;) {
    const found = await db.transaction(async (transaction) => {
      const rows = await transaction.query(sessionsOfPayer, { email, limit: erasureBatch });
      const sessionIds = rows.map((row) => row.session_id);
      await transaction.query(eraseSessionsOfPayer, { email, sessionIds });
      await transaction.query(eraseOrdersOfPayer, { email, sessionIds });
      await transaction.query(eraseEventsOfPayer, { member, emptied: '"payerEmail":""', sessionIds });
      return sessionIds.length;
    });
    erased += found;
    if (found === 0) break;
  }
  await db.query(eraseMailsOfPayer, { email });
  return erased;
}
