import type { Transaction } from '@florin/pg';
import { randomBase62 } from '@florin/protocol/id.ts';
import type { Session } from '@florin/protocol/session.ts';
import type { PaymentTransaction } from '@florin/protocol/transaction.ts';
import { findLastActor } from '#members/audit.ts';
import type { Act, TellInvited, TellOwners, TellPerson } from '#members/context.ts';
import { parseEmail } from '#members/email.ts';
import { listRecipients } from '#members/notification.ts';
import { findEmail } from '#members/user.ts';
import { daysBefore } from '#outside/clock.ts';
import type { Fact, Notify } from '#webhooks/outbox.ts';
import { isAccessNotice, isGatheredKind, isPayerNotice } from './access-mail.ts';
import { type ChosenFact, chosenFactOf } from './chosen-mail.ts';
import {
  countInvitations,
  countKeyPayerChanges,
  countKeyWebhookChanges,
  countSentMails,
  latestAlike,
  takeKeyMailTurn,
} from './mail.sql.ts';
import { type MailContext, storeMail, toMembers } from './mail.ts';
import { isPersonalNotice, isWalletNotice } from './member-mail.ts';
import type { ReturnedView } from './payer-mail.ts';

/** The facts that payers are told of, by the event that has the session's payer. */
const payerFacts: ReadonlySet<Fact['type']> = new Set([
  'session.paid',
  'session.refunded',
  'session.refund_lost',
  'session.settlement_pending',
]);

/** Stores the e-mails that tell facts, in the facts' transaction. Only a service with a mail server has it. */
export function mailNotifier(deps: MailContext): Notify {
  return async (transaction, facts) => {
    for (const fact of facts) {
      if (payerFacts.has(fact.type)) await tellPayer(transaction, deps, fact);
      else if (fact.type === 'session.returned') await tellOfReturn(transaction, deps, fact);
      else if (isWalletNotice(fact.type)) await tellOfWallet(transaction, deps, fact);
      const chosen = chosenFactOf(fact);
      if (chosen !== undefined) await tellMembers(transaction, deps, fact, chosen);
    }
  };
}

/** How long an e-mail waits that takes an earlier one back: most of what a reorg took comes back by itself within minutes. */
const lostWaitMs = 15 * 60_000;

interface PayerView {
  readonly session: Session;
  readonly transaction?: PaymentTransaction;
  readonly refund?: { readonly amount: number; readonly txHash: string };
}

/** What the payer of a session is told of. A refund that was told as taken back is told again when it is back. */
async function payerMailOf(
  transaction: Transaction,
  { type, objectId, at }: Fact,
  { session: { refundedAmount, pendingReason }, refund }: PayerView,
): Promise<Pick<Parameters<typeof storeMail>[2], 'kind' | 'fact' | 'dueAt'> | undefined> {
  if (type === 'session.paid') return { kind: 'receipt', fact: `${type}:${objectId}` };
  const dueAt = new Date(at.getTime() + lostWaitMs);
  if (type === 'session.refund_lost')
    return { kind: 'refund', fact: `${type}:${objectId}:${at.getTime()}`, dueAt };
  if (type === 'session.settlement_pending' && pendingReason === 'payment_reorged')
    return { kind: 'receipt', fact: `session.payment_lost:${objectId}:${at.getTime()}`, dueAt };
  if (type !== 'session.refunded') return undefined;
  const [row] = await transaction.query(countSentMails, {
    factsFrom: `session.refund_lost:${objectId}:`,
    factsTo: `session.refund_lost:${objectId};`,
  });
  // Each refunded amount is a fact of its own.
  const told = [type, objectId, refundedAmount, refund?.txHash ?? '', row?.sent ?? 0n];
  return { kind: 'refund', fact: told.join(':') };
}

/**
 * A payer who gave no address, or one that no mail server takes, is not told. The page's secret goes to no address: one
 * that was mistyped is another person's.
 */
async function tellPayer(transaction: Transaction, deps: MailContext, fact: Fact): Promise<void> {
  const { ownerId: merchantId, dataJson, at } = fact;
  const view = JSON.parse(dataJson) as PayerView;
  const recipient = parseEmail(view.session.payerEmail);
  if (recipient === undefined || view.transaction === undefined) return;
  const mail = await payerMailOf(transaction, fact, view);
  if (mail === undefined) return;
  const { orderId, from } = view.transaction;
  const isRefund = fact.type === 'session.refund_lost';
  const lost = mail.dueAt === undefined ? {} : { lost: isRefund ? 'refund' : 'payment' };
  const data = withoutSecret({ ...view, ...lost });
  await storeMail(transaction, deps, {
    ...{ ...mail, merchantId, recipient, orderId, data, at, payer: from.toLowerCase() },
  });
}

/** The same of money that did not pay and went back by itself. It is an e-mail of the kind of refunds, with their limits. */
async function tellOfReturn(transaction: Transaction, deps: MailContext, fact: Fact): Promise<void> {
  const { ownerId: merchantId, objectId, dataJson, at } = fact;
  const view = JSON.parse(dataJson) as ReturnedView;
  const { orderId, txHash, tokenId, payer, payerEmail } = view.returned;
  const recipient = parseEmail(payerEmail);
  if (recipient === undefined) return;
  await storeMail(transaction, deps, {
    ...{ merchantId, recipient, orderId, data: withoutSecret(view), at, payer: payer.toLowerCase() },
    ...{ fact: `session.refunded:${objectId}:${orderId}:${txHash}:${tokenId}`, kind: 'refund' },
  });
}

/** What is stored for an e-mail to a payer: without the page's secret. */
export function withoutSecret({ session, ...view }: { readonly session: Session }): string {
  const paymentUrl = session.paymentUrl.replace(/#.*$/, '');
  return JSON.stringify({ ...view, session: { ...session, clientCode: '****', paymentUrl } });
}

/** Who may change wallets is told of every change, because it moves where money goes; other members by choice. */
async function tellOfWallet(transaction: Transaction, deps: MailContext, fact: Fact): Promise<void> {
  const { ownerId: merchantId, objectId, at, type, doneBy, changeId, previousAddress } = fact;
  const askedBy =
    changeId === undefined ? undefined : await findLastActor(transaction, { merchantId, subject: changeId });
  const data = JSON.stringify({ ...JSON.parse(fact.dataJson), doneBy, askedBy, previousAddress });
  for (const { email: recipient } of await listRecipients(transaction, merchantId, 'wallet_changed')) {
    await storeMail(transaction, deps, {
      ...{ merchantId, recipient, data, at, kind: type },
      // An account changes more than once.
      fact: `${type}:${objectId}:${at.getTime()}`,
    });
  }
}

/** One row for all members, which a worker distributes: a payment does not wait for a row of each. */
async function tellMembers(
  transaction: Transaction,
  deps: MailContext,
  { ownerId: merchantId, dataJson: data, at }: Fact,
  { kind, fact, waitMs = 0 }: ChosenFact,
): Promise<void> {
  if ((await listRecipients(transaction, merchantId, kind)).length === 0) return;
  const dueAt = new Date(at.getTime() + waitMs);
  await storeMail(transaction, deps, { merchantId, fact, kind, data, at, dueAt, recipient: toMembers });
}

/** Stores the e-mails that tell people of acts about them, such as a sign-in on a new device. */
export function personTeller(deps: MailContext): TellPerson {
  return async (transaction, { userId, actor, act, at }) => {
    if (!isPersonalNotice(act.action)) return;
    const recipient = await findEmail(transaction, userId);
    if (recipient === undefined) return;
    await storeMail(transaction, deps, {
      ...{ merchantId: undefined, recipient, at, kind: act.action },
      fact: `${act.action}:${userId}:${randomBase62(deps.random.bytes)}`,
      data: JSON.stringify({ userId, actor, act }),
    });
  };
}

/**
 * Changes in a day of which an API key's are told one by one: of webhooks, and of where payers are sent. A key changes as many
 * as it likes, and would fill the mailboxes of its owners. The last e-mail says that the rest of the day is silent, and to
 * revoke a key that is not theirs. The two are counted apart: a marketplace's many shops do not silence its webhooks.
 */
const maxKeyChangesOfDay = 10;

/** Stores the e-mails that tell owners and admins of acts on who and what may act for their merchant. */
export function ownerTeller(deps: MailContext): TellOwners {
  return async (transaction, { merchantId, actor, act, at }) => {
    if (!isAccessNotice(act)) return;
    const place =
      actor.kind === 'key'
        ? await placeOfKeyChange(transaction, { merchantId, keyId: actor.id, act, at })
        : undefined;
    if (place === 'silent') return;
    const isLast = place === 'last';
    const fact = `${act.action}:${merchantId}:${act.subject}:${randomBase62(deps.random.bytes)}`;
    const data = JSON.stringify({ actor, act, ...(isLast ? { isLast } : {}) });
    // Whom an act is about is told of it as a person.
    const toldAlready = isPersonalNotice(act.action) ? act.subject : '';
    for (const { userId, email } of await listRecipients(transaction, merchantId, 'access_changed')) {
      if (userId === toldAlready) continue;
      const dueAt = isLast
        ? at
        : await dueTimeOf(transaction, { merchantId, recipient: email, kind: act.action, at });
      await storeMail(transaction, deps, {
        ...{ merchantId, recipient: email, data, at, dueAt, kind: act.action },
        fact: place === undefined ? fact : `${fact}:key:${actor.id}:${place}`,
      });
    }
  };
}

/** For how long e-mails of one kind to one person are gathered into the next one. */
const gatherMs = 10 * 60_000;

/**
 * The first e-mail of a kind goes out at once. What follows within some minutes waits, and is told in one e-mail: many alike would
 * hide another notice, and their reader would stop reading them.
 */
async function dueTimeOf(
  transaction: Transaction,
  alike: {
    readonly merchantId: string;
    readonly recipient: string;
    readonly kind: string;
    readonly at: Date;
  },
): Promise<Date> {
  const { at, kind } = alike;
  if (!isGatheredKind(kind)) return at;
  const since = new Date(at.getTime() - gatherMs);
  const [row] = await transaction.query(latestAlike, { ...alike, since });
  return row?.due_at ?? (row?.stored_at == null ? at : new Date(at.getTime() + gatherMs));
}

/** The place of a change among those that this key made on the day. Only an e-mail that says it is the last silences the next. */
async function placeOfKeyChange(
  transaction: Transaction,
  {
    merchantId,
    keyId,
    act,
    at,
  }: { readonly merchantId: string; readonly keyId: string; readonly act: Act; readonly at: Date },
): Promise<number | 'last' | 'silent'> {
  await transaction.query(takeKeyMailTurn, { merchantId });
  const since = daysBefore(at, 1);
  const count = isPayerNotice(act.action) ? countKeyPayerChanges : countKeyWebhookChanges;
  const [row] = await transaction.query(count, { merchantId, keyId, since });
  if (row?.is_last_told === true) return 'silent';
  const place = Number(row?.told ?? 0n) + 1;
  return place < maxKeyChangesOfDay ? place : 'last';
}

/** Invitations that one merchant sends in a day: their subject has the merchant's name, which could be an advertisement. */
const maxInvitationsOfDay = 50;

/** Stores the e-mails with the links of invitations. */
export function invitedTeller(deps: MailContext): TellInvited {
  return async (
    transaction,
    { invitationId, merchantId, email: recipient, url, expiresAt, at, ...given },
  ) => {
    const { role, invitedBy } = given;
    if (merchantId !== undefined) {
      const since = daysBefore(at, 1);
      const [row] = await transaction.query(countInvitations, { merchantId, since });
      if (Number(row?.sent ?? 0n) >= maxInvitationsOfDay) return false;
    }
    await storeMail(transaction, deps, {
      ...{ merchantId, recipient, at, kind: 'invitation', fact: `invitation:${invitationId}` },
      data: JSON.stringify({ url, expiresAt: expiresAt.toISOString(), role, invitedBy }),
    });
    return true;
  };
}
