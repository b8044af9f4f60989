import type { Queryable, Transaction } from '@florin/pg';
import { fieldRefusal } from '@florin/protocol/error.ts';
import { parseEmail } from '#members/email.ts';
import * as sql from './bounce.sql.ts';
import type { MailStatus } from './mail.machine.ts';

/** An address that the mail server refused for good. */
export interface Bounce {
  readonly reason: string;
  readonly bouncedAt: Date;
}

/** Rows of each list. */
const maxListed = 200;

/** The bounces among some addresses, by address. A merchant's scope knows only its own members and the people it invited. */
export async function findBounces(
  queryable: Queryable,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, Bounce>> {
  const rows = await queryable.query(sql.bouncesOf, { addresses });
  return new Map(rows.map(({ address, reason, bounced_at: bouncedAt }) => [address, { reason, bouncedAt }]));
}

/**
 * Lets e-mails go to an address again, and returns it as staff may see it. Refuses an address that has not bounced (400101).
 */
export async function releaseAddress(transaction: Transaction, given: string): Promise<string> {
  const address = parseEmail(given) ?? '';
  const [row] = await transaction.query(sql.forgetBounce, { address });
  if (row === undefined) throw fieldRefusal('address', 'was not refused by the mail server');
  return shownAddress(address, row.is_person);
}

/** Lets e-mails go to the own address again. False: it had not bounced. */
export async function retryOwnAddress(transaction: Transaction, address: string): Promise<boolean> {
  return (await transaction.query(sql.forgetBounce, { address })).length > 0;
}

/** What staff sees: payers' addresses and what quotes them only in part. */
export async function listMailTrouble(queryable: Queryable) {
  const mails = await queryable.query(sql.troubledMails, { limit: maxListed });
  const bounces = await queryable.query(sql.newestBounces, { limit: maxListed });
  return {
    mails: mails.map((row) => ({
      mailId: String(row.mail_id),
      kind: row.kind,
      merchantId: row.merchant_id ?? '',
      address: shownAddress(row.recipient, row.is_person),
      status: row.status as MailStatus,
      attempts: row.attempt_count,
      reason: shownReason(row.last_error, row.recipient, row.is_person),
      createAt: row.created_at.toISOString(),
      nextAt: row.status === 'pending' ? row.next_attempt_at.toISOString() : '',
    })),
    bounces: bounces.map((row) => ({
      address: shownAddress(row.address, row.is_person),
      reason: shownReason(row.reason, row.address, row.is_person),
      bouncedAt: row.bounced_at.toISOString(),
    })),
  };
}

/** How many e-mails wait, since when the oldest does, and when the last one went out. */
export async function readMailProgress(queryable: Queryable) {
  const [row] = await queryable.query(sql.mailProgress);
  return {
    waiting: Number(row?.waiting ?? 0n),
    oldestAt: row?.oldest?.toISOString() ?? '',
    lastSentAt: row?.last_sent?.toISOString() ?? '',
  };
}

/** What became of the e-mails to the payer of a session, oldest first. */
export async function mailsOfSession(queryable: Queryable, sessionId: string) {
  const rows = await queryable.query(sql.sessionMails, { sessionId });
  return rows.map((row) => ({
    kind: row.kind as 'receipt' | 'refund',
    isLoss: row.is_loss,
    status: row.status as MailStatus,
    isTooMany: row.status === 'suppressed' && row.last_error !== '',
    at: row.finished_at ?? row.created_at,
  }));
}

function shownAddress(address: string, isPerson: boolean): string {
  if (isPerson) return address;
  const [local = '', domain = ''] = address.split('@');
  return local === '' ? '' : `${local.slice(0, 1)}•••@${domain}`;
}

/** A mail server's answer begins with its code, and may quote the address in any form. Other reasons are ours. */
function shownReason(reason: string, address: string, isPerson: boolean): string {
  if (isPerson) return reason;
  const code = /^[245]\d\d(?:[ -][245]\.\d{1,3}\.\d{1,3})?/.exec(reason)?.[0];
  return code ?? reason.replaceAll(address, shownAddress(address, false));
}
