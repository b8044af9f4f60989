import type { Database, Queryable } from '@florin/pg';
import { daysBefore } from '#outside/clock.ts';
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
import { type OldRowContext, runOldRows } from './old-rows.ts';

/** How long personal data of payers is kept, in days. */
export interface ErasurePolicy {
  /** E-mail addresses, after the session's last change. */
  readonly emailsAfterDays: number;
  /** Networks that requests came from, which limits by network need for a day. */
  readonly networksAfterDays: number;
}

/** Sessions of a payer in one transaction. */
const payerBatch = 500;

/** Erases up to `limit` rows of each kind that are older than the policy keeps them, and returns how many in all. */
export async function eraseOld(
  queryable: Queryable,
  { emailsAfterDays, networksAfterDays }: ErasurePolicy,
  now: Date,
  limit: number,
): Promise<number> {
  const [before, networksBefore] = [daysBefore(now, emailsAfterDays), daysBefore(now, networksAfterDays)];
  const sessions = await queryable.query(eraseOldSessions, { before, limit });
  const orders = await queryable.query(eraseOldOrders, { before, limit });
  const networks = await queryable.query(eraseOldNetworks, { before: networksBefore, limit });
  return sessions.length + orders.length + networks.length;
}

/** Erases in batches until the signal aborts. */
export function runErasure(deps: OldRowContext<ErasurePolicy>, signal: AbortSignal): Promise<void> {
  const batch = (now: Date, limit: number) => eraseOld(deps.db, deps.policy, now, limit);
  return runOldRows(deps, { failure: 'sessions.erasure_failed', batch }, signal);
}

/**
 * Erases a payer's e-mail address, in any case of its letters, wherever the service has it: in sessions, orders, events,
 * e-mails and bounces. A member of the dashboard keeps the e-mails to members. What is on a chain cannot be erased, nor what
 * webhooks delivered or backups hold. Returns the number of sessions.
 */
export async function erasePayer(db: Database, email: string): Promise<number> {
  let erased = 0;
  for (;;) {
    const found = await db.transaction(async (transaction) => {
      const rows = await transaction.query(sessionsOfPayer, { email, limit: payerBatch });
      const sessionIds = [...new Set(rows.map((row) => row.session_id))];
      const emails = [...new Set(rows.map((row) => row.payer_email))];
      await transaction.query(eraseSessionsOfPayer, { emails, sessionIds });
      await transaction.query(eraseOrdersOfPayer, { emails, sessionIds });
      for (const spelling of emails) {
        const member = `"payerEmail":${JSON.stringify(spelling)}`;
        await transaction.query(eraseEventsOfPayer, { member, emptied: '"payerEmail":""', sessionIds });
      }
      return sessionIds.length;
    });
    erased += found;
    if (found === 0) break;
  }
  await db.query(eraseMailsOfPayer, { email });
  return erased;
}
