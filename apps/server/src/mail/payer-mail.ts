import {
  chooseLanguage,
  fill,
  formatMoney,
  formatTime,
  formatToken,
  type Language,
  mailTexts,
} from '@florin/checkout';
import type { Queryable } from '@florin/pg';
import type { LineItem } from '@florin/protocol/line-item.ts';
import type { Session } from '@florin/protocol/session.ts';
import { isoTimestamp } from '@florin/protocol/timestamp.ts';
import type { PaymentTransaction } from '@florin/protocol/transaction.ts';
import { merchantNames, merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { findShownMerchant } from '#catalog/branding.ts';
import type { Chains } from '#chains/chain.ts';
import { networkTitle } from '#chains/networks.ts';
import { findLostPayments, isPaymentInDoubt } from '#sessions/progress.ts';
import { findSessionStates } from '#sessions/session.ts';
import { layOut, type MailContent, type MailRow } from './layout.ts';
import type { ComposeMail, OpenedMail } from './opened-mail.ts';

/** What the event of a paid session tells. */
interface PaidView {
  readonly session: Session;
  readonly transaction: PaymentTransaction;
  /** What went back just now, or is back no more, in Micro-USD; absent in receipts and in e-mails from before the last release. */
  readonly refund?: { readonly amount: number; readonly txHash: string };
  /** What a reorg below finality took back. */
  readonly lost?: 'refund' | 'payment';
}

/** What is told of money that did not pay and went back by itself. */
export interface ReturnedView {
  readonly session: Session;
  readonly returned: {
    readonly kind: keyof typeof reasons;
    readonly tokenId: string;
    /** In units of the token. */
    readonly amount: string;
    /** In Micro-USD. */
    readonly value: number;
    readonly orderId: string;
    readonly txHash: string;
    /** Where it went. */
    readonly payer: string;
    /** Who is told; empty: the payer gave no address, or asked for the order without the session's secret. */
    readonly payerEmail: string;
  };
}

/** The page's words for why money does not pay, by the kind of exception. */
const reasons = {
  underpaid: 'whyUnderpaid',
  overpaid: 'whyOverpaid',
  late: 'whyLate',
  wrong_token: 'whyWrongToken',
  duplicate: 'whyDuplicate',
} as const;

/** More items than this are summed up in one line, so that no e-mail becomes too large for a mailbox. */
const maxItems = 50;

/** Writes the e-mail about a paid or refunded session, or about money that went back, in its payer's language. */
export async function composePayerMail(
  deps: { readonly db: Queryable; readonly chains: Chains },
  mail: OpenedMail,
): ReturnType<ComposeMail> {
  const view = JSON.parse(mail.data) as PaidView | ReturnedView;
  if ('returned' in view) return composeReturn(deps, mail, view);
  if (view.lost !== undefined) return composeLoss(deps, mail, view, view.lost);
  const { session, transaction, refund } = view;
  const language = chooseLanguage(mail.language, undefined);
  const { tag, texts: pageTexts, direction } = language;
  const texts = mailTexts(tag);
  const shown = await findShownMerchant(deps.db, mail.merchantId ?? '');
  const stored = (await findSessionStates(deps.db, [session.sessionId])).get(session.sessionId);
  const { merchant, legalName } = merchantNames(stored?.receiptNames ?? shown);
  const isRefund = mail.kind === 'refund';
  // E-mails from before the last release wait without it.
  const { totalValue, addedValue = 0 } = transaction;
  const paid = totalValue - addedValue;
  const amount = money(tag, isRefund ? session.refundedAmount : paid);
  const values = { merchant, amount, total: money(tag, paid) };
  // The heading has this refund's own amount, and the sentence below it what has gone back in total.
  const headed = refund === undefined ? values : { ...values, amount: money(tag, refund.amount) };
  const token = deps.chains.token(session.paidToken);
  const chain = token === undefined ? undefined : deps.chains.byId(token.chainId);
  const rows: MailRow[] = [
    ...(token === undefined
      ? []
      : [[pageTexts.paidWith, formatToken(tag, token, transaction.paidAmountInToken)] as const]),
    ...(chain === undefined ? [] : [[pageTexts.network, networkTitle(chain)] as const]),
    ...(isRefund ? [[texts.sentBackTo, transaction.from] as const] : []),
    [pageTexts.paidOn, formatTime(tag, isoTimestamp(transaction.executeTime), 'UTC')],
    [pageTexts.receiptNumber, session.receiptId],
    [pageTexts.merchant, legalName],
    // The payer's own transaction, which a refund's reader would take for the one that brought the money back.
    ...(isRefund ? [] : [[texts.transaction, transaction.sourceTx] as const]),
    ...(refund === undefined || refund.txHash === '' ? [] : [[pageTexts.returnTx, refund.txHash] as const]),
  ];
  const intro = isRefund
    ? fill(texts.refundIntro, values)
    : (await isPaymentInDoubt(deps.db, { sessionId: session.sessionId, orderId: transaction.orderId }))
      ? pageTexts.inDoubtElsewhere
      : fill(texts.receiptIntro, values);
  return {
    fromName: merchant,
    subject: fill(isRefund ? texts.refundSubject : texts.receiptSubject, values),
    ...layOut({
      ...{ language: tag, direction, brandName: merchant, brandColor: shown.color, rows },
      title: fill(isRefund ? texts.refundTitle : texts.receiptTitle, headed),
      paragraphs: [intro],
      ...(isRefund ? {} : priceOf(language, session, transaction)),
      button: { text: texts.open, url: session.paymentUrl },
      footer: [fill(texts.why, values)],
    }),
  };
}

/** The words are those of the page that said that the money goes back. */
async function composeReturn(
  { db, chains }: { readonly db: Queryable; readonly chains: Chains },
  mail: OpenedMail,
  { session, returned }: ReturnedView,
): ReturnType<ComposeMail> {
  const { tag, texts: pageTexts, direction } = chooseLanguage(mail.language, undefined);
  const texts = mailTexts(tag);
  const shown = await findShownMerchant(db, mail.merchantId ?? '');
  const { merchant } = merchantNames(shown);
  const token = chains.token(returned.tokenId);
  const chain = token === undefined ? undefined : chains.byId(token.chainId);
  const amount = token === undefined ? '' : formatToken(tag, token, returned.amount);
  const why = pageTexts[reasons[returned.kind]];
  const title = fill(pageTexts.wentBack, { amount, why });
  const rows: MailRow[] = [
    ...(chain === undefined ? [] : [[pageTexts.network, networkTitle(chain)] as const]),
    [texts.sentBackTo, returned.payer],
    [pageTexts.returnTx, returned.txHash],
  ];
  return {
    fromName: merchant,
    subject: `${merchant}: ${title}`,
    ...layOut({
      ...{ language: tag, direction, brandName: merchant, brandColor: shown.color, rows, title },
      paragraphs: [],
      button: { text: texts.open, url: session.paymentUrl },
      footer: [fill(texts.why, { merchant })],
    }),
  };
}

/** An earlier e-mail told what the chain took back since. Undefined where it is back. */
async function composeLoss(
  { db }: { readonly db: Queryable },
  mail: OpenedMail,
  { session, transaction, refund }: PaidView,
  lost: 'refund' | 'payment',
): ReturnType<ComposeMail> {
  const isPaymentLost = (await findLostPayments(db, [transaction.orderId])).has(transaction.orderId);
  const stored = (await findSessionStates(db, [session.sessionId])).get(session.sessionId);
  const amount = refund?.amount ?? 0;
  const isBack = (stored?.refundedAmount ?? 0n) >= session.refundedAmount + amount;
  // Without the payment, the refund is nothing that the payer waits for.
  if (lost === 'payment' ? !isPaymentLost : isPaymentLost || isBack) return undefined;
  const { tag, direction } = chooseLanguage(mail.language, undefined);
  const texts = mailTexts(tag);
  const shown = await findShownMerchant(db, mail.merchantId ?? '');
  const { merchant } = merchantNames(stored?.receiptNames ?? shown);
  const paid = transaction.totalValue - transaction.addedValue;
  const values = { merchant, amount: money(tag, lost === 'refund' ? amount : paid) };
  const title = fill(lost === 'refund' ? texts.refundLostTitle : texts.lostTitle, values);
  return {
    fromName: merchant,
    subject: `${merchant}: ${title}`,
    ...layOut({
      ...{ language: tag, direction, brandName: merchant, brandColor: shown.color, rows: [], title },
      paragraphs: [fill(lost === 'refund' ? texts.refundLostIntro : texts.lostIntro, values)],
      button: { text: texts.open, url: session.paymentUrl },
      footer: [fill(texts.why, { merchant })],
    }),
  };
}

function money(tag: string, microUsd: number): string {
  return formatMoney(tag, String(microUsd));
}

/** The items, what the payer paid on top of them, and the total. */
export function priceOf(
  { tag, texts: { quantity } }: Language,
  { lineItems: { items } }: Session,
  { totalValue }: PaymentTransaction,
): Pick<MailContent, 'items' | 'total'> {
  const texts = mailTexts(tag);
  const fee = totalValue - sumOf(items);
  return {
    items: [...itemRows(tag, quantity, items), ...(fee > 0 ? [[texts.fee, money(tag, fee)] as const] : [])],
    total: [texts.total, money(tag, totalValue)],
  };
}

function sumOf(items: readonly LineItem[]): number {
  return items.reduce((total, { quantity, unitPrice }) => total + quantity * unitPrice, 0);
}

function itemRows(tag: string, several: string, items: readonly LineItem[]): MailRow[] {
  const rows = items.slice(0, maxItems).map(({ productData, quantity, unitPrice }): MailRow => {
    const name = merchantText(productData?.productName ?? '', merchantTextLimits.productName);
    const label = quantity > 1 ? fill(several, { name, count: String(quantity) }) : name;
    return [label, money(tag, quantity * unitPrice)];
  });
  const others = items.slice(maxItems);
  if (others.length === 0) return rows;
  return [...rows, [`+ ${others.length}`, money(tag, sumOf(others))]];
}
