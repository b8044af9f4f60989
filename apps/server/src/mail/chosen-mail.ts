import { chooseLanguage, fill, formatMoney, formatToken } from '@florin/checkout';
import type { Queryable } from '@florin/pg';
import type { ExceptionKind, raisedException } from '@florin/protocol/exception.ts';
import { rolePermissions } from '@florin/protocol/member-role.ts';
import type { NotificationKind } from '@florin/protocol/notification.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import type { Session } from '@florin/protocol/session.ts';
import type { PaymentTransaction } from '@florin/protocol/transaction.ts';
import type { Static } from 'typebox';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { findShownMerchant } from '#catalog/branding.ts';
import type { Chains } from '#chains/chain.ts';
import { networkTitle } from '#chains/networks.ts';
import { linkNames } from '#links/link-name.ts';
import { listRecipients } from '#members/notification.ts';
import { refundsOfSession } from '#refunds/refund.ts';
import { isPaymentInDoubt } from '#sessions/progress.ts';
import { findSessionStates } from '#sessions/session.ts';
import type { Fact } from '#webhooks/outbox.ts';
import { failingWebhookUrl } from './chosen-mail.sql.ts';
import { layOut, type MailContent, type MailRow } from './layout.ts';
import type { FindRecipients } from './mail.ts';
import { choiceLink, english, type MemberMailContext, timeText } from './member-mail.ts';
import type { ComposeMail, OpenedMail } from './opened-mail.ts';
import { priceOf } from './payer-mail.ts';

/** Kinds whose e-mails wait in one row for all members; the others have a row for each. */
export type ChosenKind = Exclude<NotificationKind, 'access_changed' | 'wallet_changed' | 'weekly_summary'>;

interface ChosenMailContext extends MemberMailContext {
  readonly chains: Chains;
}

/** What a part adds to the frame that all these e-mails share. */
type Part = Pick<MailContent, 'title' | 'paragraphs' | 'rows' | 'items' | 'total'> & {
  readonly button: string;
  /** Below the merchant's pages in the dashboard. */
  readonly path: string;
};

type RaisedException = Static<typeof raisedException>;

/** What happened, and what becomes of the money, by the kind of exception. `{merchant}` is a placeholder. */
const exceptionTexts: Readonly<Record<ExceptionKind, readonly [title: string, meaning: string]>> = {
  duplicate: ['{merchant} was paid twice', 'The second payment goes back to its payer.'],
  duplicate_settled: ['{merchant} was paid twice', 'The second payment, too, was settled to your wallet.'],
  refunded: ['A payment to {merchant} went back', 'The payer has the money. It will not be settled.'],
  reclaimed: [
    'A payment to {merchant} went back',
    'It was not settled in time, so the payer has the money back.',
  ],
  unsettled: [
    'A payment to {merchant} is not settled yet',
    'It waits for longer than it should. If it is not settled in time, the money goes back to its payer.',
  ],
  underpaid: ['{merchant} was paid too little', 'The money goes back to its payer.'],
  overpaid: ['{merchant} was paid too much', 'What is above the price goes back to its payer.'],
  late: ['{merchant} was paid too late', 'The money goes back to its payer.'],
  wrong_token: [
    '{merchant} was paid in another token',
    'The order asks for another one, so the money goes back to its payer.',
  ],
};

/** These have ended when they are told. */
const endedKinds: readonly ExceptionKind[] = ['refunded', 'reclaimed'];

export function isChosenKind(kind: string): kind is ChosenKind {
  return Object.hasOwn(parts, kind);
}

/** What members may choose to be told of. */
export interface ChosenFact {
  readonly kind: ChosenKind;
  /** The name that makes it told once. */
  readonly fact: string;
  /** How long its e-mail waits; at once when absent. */
  readonly waitMs?: number;
}

/** What is over by then needs no e-mail: a settlement that the next attempt made, a refund that is signed where it is asked for. */
const waitMs = 15 * 60_000;

/** What members may choose to be told of; undefined for all other facts. */
export function chosenFactOf(fact: Fact): ChosenFact | undefined {
  const { type, objectId, dataJson, at } = fact;
  const ofTime = `${objectId}:${at.getTime()}`;
  if (type === 'session.paid') return { kind: 'payment', fact: `payment:${objectId}` };
  // It may be delayed again and again.
  if (type === 'session.settlement_pending')
    return { kind: 'settlement_delayed', fact: `settlement_delayed:${objectId}`, waitMs };
  if (type === 'refund.created' || type === 'refund.reopened') {
    const { refund } = JSON.parse(dataJson) as { readonly refund: Refund };
    if (refund.status !== 'requires_signature') return undefined;
    return { kind: 'refund_waiting', fact: `refund_waiting:${ofTime}`, waitMs };
  }
  if (type === 'webhook.failing')
    return { kind: 'webhook_failing', fact: `webhook_failing:${ofTime}`, waitMs };
  if (type === 'webhook.paused') return { kind: 'webhook_paused', fact: `webhook_paused:${ofTime}` };
  if (type !== 'session.exception') return undefined;
  const { exception } = JSON.parse(dataJson) as { readonly exception: RaisedException };
  // The event comes again when its amount grows.
  return endedKinds.includes(exception.kind)
    ? undefined
    : { kind: 'exception', fact: `exception:${exception.exceptionId}` };
}

/** The addresses of the members who want e-mails of a kind. */
export const findChosenRecipients: FindRecipients = async (queryable: Queryable, merchantId, kind) => {
  if (!isChosenKind(kind)) throw new Error(`no member chooses e-mails of the kind ${kind}`);
  return (await listRecipients(queryable, merchantId, kind)).map(({ email }) => email);
};

/**
 * Writes an e-mail that a member chose. That about a payment names the payer's e-mail address to a role that sees it. Undefined
 * when it is over.
 */
export async function composeChosenMail(
  deps: ChosenMailContext,
  mail: OpenedMail & { readonly kind: ChosenKind },
): ReturnType<ComposeMail> {
  const { db, fromName, dashboardOrigin } = deps;
  const merchantId = mail.merchantId ?? '';
  const shown = await findShownMerchant(db, merchantId);
  const merchant = merchantText(shown.merchantName, merchantTextLimits.linkName);
  const { at, recipient } = mail;
  const part = await parts[mail.kind](deps, mail.data, { merchantId, merchant, at, recipient });
  if (part === undefined) return undefined;
  const { title, paragraphs, rows, items, total } = part;
  const content: MailContent = {
    ...english(fromName, title),
    ...{ paragraphs, items, total },
    rows: [['Merchant', merchant], ...rows, ['Time', timeText(mail.at.toISOString())]],
    button: { text: part.button, url: `${dashboardOrigin}/dashboard/${merchantId}/${part.path}` },
    footer: [`You get this e-mail because you are a member of ${merchant}.`],
    footerLinks: [choiceLink(dashboardOrigin)],
  };
  return { fromName, subject: title, ...layOut(content) };
}

interface About {
  readonly merchantId: string;
  readonly merchant: string;
  readonly at: Date;
  readonly recipient: string;
}
type WritePart = (deps: ChosenMailContext, data: string, about: About) => Part | Promise<Part | undefined>;

const parts: Readonly<Record<ChosenKind, WritePart>> = {
  payment: paymentPart,
  exception: exceptionPart,
  settlement_delayed: settlementPart,
  refund_waiting: refundPart,
  webhook_failing: failingPart,
  webhook_paused: pausedPart,
};

async function paymentPart(
  { db, chains }: ChosenMailContext,
  data: string,
  { merchantId, merchant, recipient }: About,
): Promise<Part> {
  const { session, transaction } = JSON.parse(data) as {
    readonly session: Session;
    readonly transaction: PaymentTransaction;
  };
  const amount = formatMoney('en', String(transaction.totalValue));
  const { orderId } = transaction;
  const { sessionId, businessId: linkId } = session;
  const isInDoubt = await isPaymentInDoubt(db, { sessionId, orderId });
  const linkName = (await linkNames(db, { merchantId, linkIds: [linkId] })).get(linkId) ?? '';
  const mayRead = await mayReadPayer(db, merchantId, recipient);
  const payerEmail = mayRead
    ? ((await findSessionStates(db, [sessionId])).get(sessionId)?.payerEmail ?? '')
    : '';
  return {
    ...priceOf(chooseLanguage('en', undefined), session, transaction),
    title: `${merchant} received ${amount}`,
    paragraphs: [
      isInDoubt
        ? 'The network contradicts what it had shown as final. The operator checks the payment: wait with the delivery.'
        : 'The payment is final.',
    ],
    rows: [
      ...tokenRows(chains, 'Paid with', session.paidToken, transaction.paidAmountInToken),
      ['Payer', transaction.from],
      ['Payer’s e-mail', payerEmail],
      ['Payment link', merchantText(linkName, merchantTextLimits.linkName)],
      ['Receipt', session.receiptId],
    ],
    button: 'Open the payment',
    path: `payments/${sessionId}`,
  };
}

/** Whether the role of the member whom an e-mail goes to shows payers' e-mail addresses. */
async function mayReadPayer(db: Queryable, merchantId: string, recipient: string): Promise<boolean> {
  const member = (await listRecipients(db, merchantId, 'payment')).find(({ email }) => email === recipient);
  return member !== undefined && rolePermissions[member.role].has('payer_pii:read');
}

function exceptionPart({ chains }: ChosenMailContext, data: string, { merchant }: About): Part {
  const { exception, session } = JSON.parse(data) as {
    readonly exception: RaisedException;
    readonly session: Session;
  };
  const { kind, decision, decideBy, tokenId, amountInToken } = exception;
  const isOpenChoice = decision === '' && decideBy !== '';
  const [title, meaning] = exceptionTexts[kind];
  const becomes = isOpenChoice
    ? 'The money goes back to its payer unless you accept it.'
    : decision === 'accept'
      ? 'The money is accepted as the payment.'
      : meaning;
  return {
    title: fill(title, { merchant }),
    paragraphs: [becomes],
    rows: [
      ...tokenRows(chains, 'Amount', tokenId, amountInToken),
      ['Payment', session.sessionId],
      ...(isOpenChoice ? [['Decide by', timeText(decideBy)] as const] : []),
    ],
    button: 'Open exceptions',
    path: 'exceptions',
  };
}

async function settlementPart(
  { db }: ChosenMailContext,
  data: string,
  { merchant }: About,
): Promise<Part | undefined> {
  const { session, transaction } = JSON.parse(data) as {
    readonly session: Session;
    readonly transaction: PaymentTransaction;
  };
  const { sessionId } = session;
  const stored = (await findSessionStates(db, [sessionId])).get(sessionId);
  if (stored?.status !== 'settlement_pending') return undefined;
  const place = { button: 'Open the payment', path: `payments/${sessionId}` };
  if (stored.pendingReason === 'payment_reorged')
    return {
      title: `A payment to ${merchant} was taken back by its chain`,
      paragraphs: [
        'A reorganisation removed the block of the payment, so it is not paid now: deliver nothing for it.',
        'If its transaction comes back, everything goes on by itself. Otherwise the payment expires.',
      ],
      rows: [
        ['Amount', formatMoney('en', String(transaction.totalValue))],
        ['Payment', sessionId],
      ],
      ...place,
    };
  return {
    title: `A settlement to ${merchant} is delayed`,
    paragraphs: [
      'The payment is final, but its money is not in your wallet yet. The settlement is tried again by itself.',
      'The page of the payment says why, and whether you can do something about it.',
    ],
    rows: [
      ['You receive', formatMoney('en', String(transaction.netValue))],
      ['Payment', sessionId],
    ],
    ...place,
  };
}

async function refundPart(
  { db }: ChosenMailContext,
  data: string,
  { merchant }: About,
): Promise<Part | undefined> {
  const { refund } = JSON.parse(data) as { readonly refund: Refund };
  const { refundId, sessionId, amount } = refund;
  const stored = (await refundsOfSession(db, sessionId)).find((each) => each.refundId === refundId);
  if (stored?.status !== 'requires_signature') return undefined;
  // A refund that waits has a transaction only once a reorg has taken that back, of which an e-mail of its own tells.
  if (stored.txHash !== refund.txHash) return undefined;
  const isAgain = refund.txHash !== '';
  return {
    title: `A refund of ${merchant} waits for your wallet${isAgain ? ' again' : ''}`,
    paragraphs: isAgain
      ? [
          'The refund was completed, and the network took back the block with its transaction. That may come back by itself, and completes the refund then.',
          'Sign again only if your wallet shows the transaction below as dropped.',
        ]
      : [
          'The payment was settled to you, so a wallet of yours sends the money back. The payer waits for it.',
        ],
    rows: [
      ['Amount', formatMoney('en', String(amount))],
      ['Payment', sessionId],
      ['Refund', refundId],
      ...(isAgain ? [['Lost transaction', refund.txHash] as const] : []),
    ],
    button: 'Open the refund',
    path: `refunds/${refundId}`,
  };
}

async function failingPart(
  { db }: ChosenMailContext,
  data: string,
  { merchant, at: since }: About,
): Promise<Part | undefined> {
  const { webhookId } = JSON.parse(data) as { readonly webhookId: string };
  const [row] = await db.query(failingWebhookUrl, { webhookId, since });
  if (row === undefined) return undefined;
  return {
    title: `A webhook of ${merchant} fails`,
    paragraphs: [
      'Since the time below its receiver has accepted no event. Each is sent again, less and less often; after three days without a success the webhook is paused.',
      'Repair the receiver. The dashboard shows what was sent, and each answer.',
    ],
    rows: [
      ['Receiver', new URL(row.webhook_url).host],
      ['Webhook', webhookId],
    ],
    button: 'Open the webhook',
    path: `webhooks/${webhookId}`,
  };
}

function pausedPart(_deps: ChosenMailContext, data: string, { merchant }: About): Part {
  const { webhook } = JSON.parse(data) as {
    readonly webhook: { readonly webhookId: string; readonly webhookUrl: string };
  };
  return {
    title: `A webhook of ${merchant} is paused`,
    paragraphs: [
      'It failed for too long, so events are no longer sent to it.',
      'Repair the receiver, then enable the webhook in the dashboard.',
    ],
    rows: [
      ['Receiver', new URL(webhook.webhookUrl).host],
      ['Webhook', webhook.webhookId],
    ],
    button: 'Open the webhook',
    path: `webhooks/${webhook.webhookId}`,
  };
}

function tokenRows(chains: Chains, label: string, tokenId: string, amount: string): MailRow[] {
  const token = chains.token(tokenId);
  if (token === undefined) return [];
  const chain = chains.byId(token.chainId);
  return [
    [label, formatToken('en', token, amount)],
    ...(chain === undefined ? [] : [['Network', networkTitle(chain)] as const]),
  ];
}
