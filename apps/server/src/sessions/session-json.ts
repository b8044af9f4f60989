import type { PaymentException } from '@florin/protocol/exception.ts';
import { withoutProductData } from '@florin/protocol/line-item.ts';
import { microUsd, microUsdToNumber } from '@florin/protocol/money.ts';
import type { Session, SessionDeposit } from '@florin/protocol/session.ts';
import { withoutDefaults } from '@florin/protocol/shop-return.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import type { PaymentTransaction } from '@florin/protocol/transaction.ts';
import { paidValueOf, type StoredOrder } from '#orders/stored-order.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { StoredSession } from './stored-session.ts';

/** A session and, once it is paid, the order that was paid. */
export interface StoredSessionView {
  readonly session: StoredSession;
  readonly order: StoredOrder | undefined;
  /** Only for a read of the one session, and for searches. */
  readonly deposits?: readonly SessionDeposit[];
  /** A deposit paid it. Only for members. */
  readonly isDeposit?: boolean;
  /** What came instead of its payment. Only for members. */
  readonly exceptions?: readonly PaymentException[] | undefined;
  /** The present name of its payment link. Only for members. */
  readonly linkName?: string | undefined;
}

export interface SessionJsonOptions {
  /** The public origin, without a slash at the end. */
  readonly origin: string;
  /** False for restricted keys: the page's secret shows as `****` and leaves paymentUrl. */
  readonly showClientCode: boolean;
  /** False without the permission payer_pii:read. */
  readonly showPayerEmail: boolean;
  /** False in an event that would be over 64 KiB. */
  readonly showProductData?: boolean;
}

/** What webhooks and secret keys see. */
export function fullView(origin: string): SessionJsonOptions {
  return { origin, showClientCode: true, showPayerEmail: true };
}

function timestampOrNull(time: Date | undefined): string | null {
  return time === undefined ? null : formatTimestamp(time);
}

/** The hosted checkout URL of a session; its fragment never reaches a server. */
export function paymentUrlOf(session: StoredSession, origin: string): string {
  return `${origin}/checkout/${session.sessionId}#${session.clientCode}`;
}

/** The Session object as JSON text. Text, because metadata goes out byte for byte as the merchant sent it. */
export function sessionJson(session: StoredSession, options: SessionJsonOptions): string {
  const fields: Omit<Session, 'metadata'> = {
    sessionId: session.sessionId,
    sessionType: session.sessionType,
    businessId: session.businessId,
    businessType: session.businessType,
    clientCode: options.showClientCode ? session.clientCode : '****',
    payer: session.payer,
    payerEmail: options.showPayerEmail ? session.payerEmail : '',
    payerEmailRequired: session.payerEmailRequired ? 1 : 0,
    paidToken: session.paidToken,
    receiptId: session.receiptId,
    recipient: session.recipient,
    settlementToken: session.settlementToken,
    feeModel: session.feeModel,
    amount: microUsdToNumber(session.amount),
    lineItems: {
      items: options.showProductData === false ? session.items.map(withoutProductData) : [...session.items],
    },
    expirationTime: unixSeconds(session.expirationTime),
    successUrl: session.successUrl,
    ...withoutDefaults(session),
    ...(session.customSuccessText === '' ? {} : { customSuccessText: session.customSuccessText }),
    paymentUrl: options.showClientCode
      ? paymentUrlOf(session, options.origin)
      : `${options.origin}/checkout/${session.sessionId}`,
    signedOnce: session.signedOnce ? 1 : 0,
    initiateTx: session.initiateTx,
    completeTx: session.completeTx,
    paymentSucceededTime: timestampOrNull(session.paymentSucceededAt),
    settlementSucceededTime: timestampOrNull(session.settlementSucceededAt),
    createAt: formatTimestamp(session.createdAt),
    status: session.status,
    pendingReason: session.pendingReason,
    intendedPayer: session.intendedPayer,
    refundedAmount: microUsdToNumber(session.refundedAmount),
    ...(session.isLate ? { late: true } : {}),
  };
  return `${JSON.stringify(fields).slice(0, -1)},"metadata":${session.metadata}}`;
}

/** The Transaction object; undefined until the payment has succeeded. */
export function transactionOf(view: StoredSessionView): PaymentTransaction | undefined {
  const { session, order } = view;
  if (order === undefined || session.paymentSucceededAt === undefined) return undefined;
  return {
    orderId: order.orderId,
    channelId: order.order.channelId,
    orderType: order.order.orderType,
    from: order.order.payer,
    to: order.order.to,
    metaData: order.order.metaData,
    totalValue: microUsdToNumber(order.amounts.totalValue),
    paymentValue: microUsdToNumber(order.amounts.paymentValue),
    feeValue: microUsdToNumber(order.amounts.feeValue),
    netValue: microUsdToNumber(order.amounts.netValue),
    addedValue: microUsdToNumber(microUsd(order.amounts.totalValue - paidValueOf(order))),
    paidAmountInToken: (order.order.total - order.added).toString(),
    sourceTx: session.initiateTx,
    targetTx: session.completeTx,
    executeTime: formatTimestamp(session.paymentSucceededAt),
    finalizeTime:
      session.settlementSucceededAt === undefined ? '' : formatTimestamp(session.settlementSucceededAt),
  };
}

/** `{session, transaction?, deposits?, isDeposit?, exceptions?, linkName?}` as JSON text: what a read, a list item and an event's data show. */
export function sessionViewJson(view: StoredSessionView, options: SessionJsonOptions): string {
  const transaction = transactionOf(view);
  const { session, deposits = [], isDeposit = false, exceptions = [], linkName = '' } = view;
  const paid = transaction === undefined ? '' : `,"transaction":${JSON.stringify(transaction)}`;
  const arrived = deposits.length === 0 ? '' : `,"deposits":${JSON.stringify(deposits)}`;
  const sent = isDeposit ? ',"isDeposit":true' : '';
  const unused = exceptions.length === 0 ? '' : `,"exceptions":${JSON.stringify(exceptions)}`;
  const named = linkName === '' ? '' : `,"linkName":${JSON.stringify(linkName)}`;
  return `{"session":${sessionJson(session, options)}${paid}${arrived}${sent}${unused}${named}}`;
}

/** The data of an event about a session: what a secret key reads, and the same without productData. `dataJson` saves writing it. */
export function sessionEventData(
  view: StoredSessionView,
  origin: string,
  dataJson = sessionViewJson(view, fullView(origin)),
): { dataJson: string; shortDataJson: () => string } {
  const short = { ...fullView(origin), showProductData: false };
  return { dataJson, shortDataJson: () => sessionViewJson(view, short) };
}
