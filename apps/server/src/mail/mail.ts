import { createHash } from 'node:crypto';
import { defaultRetrySettings, nextAttemptAt } from '@florin/outbox';
import type { Database, Queryable, Transaction } from '@florin/pg';
import { type Clock, daysBefore } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { SecretBox } from '#outside/secret-box.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { isGatheredKind } from './access-mail.ts';
import { type MailStatus, type MailTrigger, mailMoves } from './mail.machine.ts';
import * as sql from './mail.sql.ts';
import type { ComposeMail, OpenedMail } from './opened-mail.ts';
import { excessOf } from './payer-limit.ts';
import type { MailMessage, MailTransport } from './smtp.ts';

/** What storing e-mails needs. */
export interface MailContext {
  readonly random: Random;
  readonly secrets: SecretBox;
}

/** The recipient of a row that waits to become one e-mail for each member who wants it. */
export const toMembers = '';

/** The addresses of the members who want e-mails of a kind. */
export type FindRecipients = (
  queryable: Queryable,
  merchantId: string,
  kind: string,
) => Promise<readonly string[]>;

export interface MailWorker extends MailContext {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly transport: MailTransport;
  readonly compose: ComposeMail;
  readonly recipientsOf: FindRecipients;
  /** The part of Message-ID after the @. */
  readonly domain: string;
  /** The most e-mails to payers of one merchant in 24 hours; absent: as `payerMailLimits` has it. */
  readonly payerMailsPerDay?: number | undefined;
}

const intervalMs = 1_000;
/** E-mails that are sent at a time. */
const batch = 8;
/** Far longer than the time limits of one attempt. */
const leaseMs = 600_000;
const cleaningIntervalMs = 60_000;
const keptDays = 90;
/** An address that bounced is tried again after this: mailboxes come back, and no payer's address is kept for good. */
const bounceDays = 180;
const deleteBatch = 500;
/** What one e-mail gathers; more waits for the next. */
const gatheredAtOnce = 500;

/** Stores the e-mail that tells a recipient of a fact, in the fact's transaction. */
export async function storeMail(
  transaction: Transaction,
  deps: MailContext,
  mail: {
    /** Undefined: it is about a person and no merchant. */
    readonly merchantId: string | undefined;
    readonly fact: string;
    readonly recipient: string;
    readonly kind: string;
    /** The order of the payer, who reads the e-mail in the language of its page. */
    readonly orderId?: string;
    /** The wallet that paid, in an e-mail to its payer. */
    readonly payer?: string;
    readonly data: string;
    readonly at: Date;
    /** When it goes out; at once when absent. */
    readonly dueAt?: Date;
  },
): Promise<void> {
  const { data, merchantId = null, orderId = null, payer = '', dueAt = mail.at, ...row } = mail;
  await transaction.query(sql.insertMail, {
    ...{ ...row, merchantId, orderId, payer, dueAt, sealedData: sealData(deps, mail) },
  });
}

/** Only a worker with the master key reads what an e-mail says, because it may have links with secrets. */
export function sealData(
  { random, secrets }: MailContext,
  { data, fact, recipient }: { readonly data: string; readonly fact: string; readonly recipient: string },
): Uint8Array {
  return secrets.seal(random, Buffer.from(data), sealContext(fact, recipient));
}

function sealContext(fact: string, recipient: string): string {
  return `mail ${fact} ${recipient}`;
}

/** Sends e-mails until the signal aborts, and deletes those that were finished long ago. */
export function runMails(worker: MailWorker, signal: AbortSignal): Promise<void>[] {
  const { clock, log } = worker;
  return [
    runRounds({ clock, log, intervalMs, failure: 'mail.failed' }, signal, () => sendDue(worker)),
    runRounds({ clock, log, intervalMs: cleaningIntervalMs, failure: 'mail.cleaning_failed' }, signal, () =>
      deleteOld(worker),
    ),
  ];
}

/** Deletes what was finished long ago, and forgets old bounces. True when more may be old. */
export async function deleteOld({ db, clock }: Pick<MailWorker, 'db' | 'clock'>): Promise<boolean> {
  const now = clock.now();
  const mails = await db.query(sql.deleteOldMails, { before: daysBefore(now, keptDays), limit: deleteBatch });
  const bounces = await db.query(sql.deleteOldBounces, {
    before: daysBefore(now, bounceDays),
    limit: deleteBatch,
  });
  return mails.length === deleteBatch || bounces.length === deleteBatch;
}

/** Sends what is due, once. True when more may be due. */
export async function sendDue(worker: MailWorker): Promise<boolean> {
  const now = worker.clock.now();
  const leased = await worker.db.query(sql.leaseMails, { now, leasedUntil: leaseEnd(now), limit: batch });
  const groups = Map.groupBy(leased, ({ mail_id: mailId, merchant_id: merchantId, recipient, kind }) =>
    isGatheredKind(kind) ? `${merchantId} ${recipient} ${kind}` : mailId,
  );
  await Promise.all([...groups.values()].map((mails) => sendTogether(worker, mails)));
  return leased.length === batch;
}

function leaseEnd(now: Date): Date {
  return new Date(now.getTime() + leaseMs);
}

/** Sends one e-mail that tells all of these leased ones, with those alike that it can lease. */
async function sendTogether(worker: MailWorker, mails: readonly sql.LeasedMail[]): Promise<void> {
  const [mail, ...leased] = mails.toSorted((one, other) => Number(one.mail_id - other.mail_id));
  if (mail === undefined) return;
  if (mail.recipient === toMembers) return distribute(worker, mail);
  if (mail.is_bounced) return finish(worker, mails, 'address_bounced_before');
  const data = opened(worker, mail);
  if (data === undefined) {
    await retry(worker, [mail], 'its data could not be read');
    return sendTogether(worker, leased);
  }
  const excess = await excessOf(worker.db, mail, { data, ofMerchant: worker.payerMailsPerDay });
  if (excess !== undefined) {
    worker.log.warn('mail.too_many', { mailId: String(mail.mail_id), merchantId: mail.merchant_id ?? '' });
    return finish(worker, [mail], 'too_many', excess);
  }
  const { others, told } = await gather(worker, mail, leased);
  const message = await composed(worker, mail, { data, others: told });
  if (message === 'unwanted') return finish(worker, [mail, ...others], 'unwanted');
  if (message === 'failed') {
    await retry(worker, [mail], 'its text could not be written');
    return sendTogether(worker, others);
  }
  const outcome = await worker.transport.send(message);
  if (outcome.kind === 'accepted') return finish(worker, [mail, ...others], 'accepted');
  const { kind, reason, code } = outcome;
  worker.log.warn('mail.not_accepted', {
    mailId: String(mail.mail_id),
    kind: mail.kind,
    outcome: kind,
    code,
  });
  if (kind === 'attempt_failed') return retry(worker, [mail, ...others], reason);
  await finish(worker, [mail], kind, reason);
  if (kind === 'address_refused') return finish(worker, others, 'address_bounced_before');
  // The server refused an e-mail as a whole, and the next one leaves the first of its acts out.
  return retry(worker, others, reason);
}

/** Stores an e-mail for each member who wants it, in the transaction that finishes their common row. */
async function distribute(worker: MailWorker, mail: sql.LeasedMail): Promise<void> {
  const { fact, kind, merchant_id: merchantId, created_at: at, mail_id: mailId } = mail;
  const data = opened(worker, mail);
  if (merchantId === null || data === undefined) return retry(worker, [mail], 'its data could not be read');
  await worker.db.transaction(async (transaction) => {
    for (const recipient of await worker.recipientsOf(transaction, merchantId, kind))
      await storeMail(transaction, worker, { merchantId, fact, recipient, kind, data, at });
    const end = { mailIds: [mailId], status: mailMoves.accepted, error: '', at: worker.clock.now() };
    await transaction.query(sql.finishMails, end);
  });
}

/**
 * What is told in one e-mail with this one, oldest first: those that are leased with it, and those alike that no worker has
 * leased. What cannot be read is tried again by itself.
 */
async function gather(
  worker: MailWorker,
  mail: sql.LeasedMail,
  leased: readonly sql.LeasedMail[],
): Promise<{ readonly others: readonly sql.LeasedMail[]; readonly told: NonNullable<OpenedMail['others']> }> {
  const { recipient, kind, merchant_id: merchantId } = mail;
  if (merchantId === null || !isGatheredKind(kind)) return { others: [], told: [] };
  const now = worker.clock.now();
  const alike = { merchantId, recipient, kind, now, leasedUntil: leaseEnd(now), limit: gatheredAtOnce };
  const all = [...leased, ...(await worker.db.query(sql.leaseAlike, alike))]
    .toSorted((one, other) => Number(one.mail_id - other.mail_id))
    .map((other) => ({ other, data: opened(worker, other), at: other.created_at }));
  const told = all.flatMap(({ data, ...rest }) => (data === undefined ? [] : [{ ...rest, data }]));
  const unread = all.filter(({ data }) => data === undefined).map(({ other }) => other);
  await retry(worker, unread, 'its data could not be read');
  return { others: told.map(({ other }) => other), told };
}

/** Undefined when no key of this process opens it. */
function opened(worker: MailWorker, mail: sql.LeasedMail): string | undefined {
  const { fact, recipient, sealed_data: sealed } = mail;
  try {
    if (sealed === null) throw new Error('a pending e-mail has no data');
    return Buffer.from(worker.secrets.open(sealed, sealContext(fact, recipient))).toString();
  } catch (error) {
    worker.log.error('mail.open_failed', error, { mailId: String(mail.mail_id), kind: mail.kind });
    return undefined;
  }
}

/** A mistake in a text delays its own e-mail only. */
async function composed(
  worker: MailWorker,
  mail: sql.LeasedMail,
  content: Pick<OpenedMail, 'data' | 'others'>,
): Promise<MailMessage | 'unwanted' | 'failed'> {
  const { fact, recipient, kind, language, created_at: at } = mail;
  try {
    const merchantId = mail.merchant_id ?? undefined;
    const parts = await worker.compose({ kind, merchantId, recipient, language, at, ...content });
    if (parts === undefined) return 'unwanted';
    const id = createHash('sha256').update(sealContext(fact, recipient)).digest('hex').slice(0, 32);
    return { ...parts, to: recipient, messageId: `${id}@${worker.domain}`, date: at };
  } catch (error) {
    worker.log.error('mail.compose_failed', error, { mailId: String(mail.mail_id), kind });
    return 'failed';
  }
}

/** Tries these again at the same time, so that they stay together: when the one that has waited longest is due. */
async function retry(worker: MailWorker, mails: readonly sql.LeasedMail[], error: string): Promise<void> {
  const endedAt = worker.clock.now();
  const planned = mails.map((mail) => {
    const failure = { attemptsMade: mail.attempt_count, endedAt, retryAfter: undefined };
    return { mail, next: nextAttemptAt(defaultRetrySettings, worker.random, failure) };
  });
  const latest = Math.max(...planned.map(({ next }) => next?.getTime() ?? 0));
  for (const { mail, next } of planned) {
    const { mail_id: mailId, attempt_count: attempt } = mail;
    if (next === undefined) await finish(worker, [mail], 'attempts_exhausted', error);
    else await worker.db.query(sql.retryMail, { mailId, attempt, nextAttemptAt: new Date(latest), error });
  }
}

/** Ends e-mails to one recipient. */
async function finish(
  { db, clock }: MailWorker,
  mails: readonly sql.LeasedMail[],
  trigger: MailTrigger,
  error = '',
): Promise<void> {
  const [first] = mails;
  if (first === undefined) return;
  const mailIds = mails.map(({ mail_id: mailId }) => mailId);
  const status: MailStatus = mailMoves[trigger];
  const at = clock.now();
  await db.transaction(async (transaction) => {
    await transaction.query(sql.finishMails, { mailIds, status, error, at });
    if (status === 'bounced')
      await transaction.query(sql.recordBounce, { address: first.recipient, reason: error, at });
  });
}
