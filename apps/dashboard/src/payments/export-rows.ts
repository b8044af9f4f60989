import type { SessionView } from '@florin/protocol/session.ts';
import { exactDecimal } from '../ui/format.ts';

const columns = [
  'sessionId',
  'status',
  'createAt',
  'paymentSucceededTime',
  'settlementSucceededTime',
  'amountInUSD',
  'feeInUSD',
  'netInUSD',
  'refundedInUSD',
  'paidToken',
  'settlementToken',
  'payer',
  'payerEmail',
  'recipient',
  'initiateTx',
  'completeTx',
  'items',
  'metadata',
] as const;

const microDigits = 6;
const usd = (micro: number | undefined) => (micro === undefined ? '' : exactDecimal(micro, microDigits));

function rowOf({ session, transaction }: SessionView): Record<(typeof columns)[number], string> {
  return {
    sessionId: session.sessionId,
    status: session.status,
    createAt: session.createAt,
    paymentSucceededTime: session.paymentSucceededTime ?? '',
    settlementSucceededTime: session.settlementSucceededTime ?? '',
    amountInUSD: usd(session.amount),
    feeInUSD: usd(transaction?.feeValue),
    netInUSD: usd(transaction?.netValue),
    refundedInUSD: usd(session.refundedAmount),
    paidToken: session.paidToken,
    settlementToken: session.settlementToken,
    payer: session.payer,
    payerEmail: session.payerEmail,
    recipient: session.recipient,
    initiateTx: session.initiateTx,
    completeTx: session.completeTx,
    items: session.lineItems.items
      .map(({ quantity, productData }) => `${quantity} × ${productData?.productName ?? ''}`)
      .join('; '),
    metadata: JSON.stringify(session.metadata),
  };
}

/** A field of RFC 4180. A leading apostrophe keeps spreadsheets from running a text as a formula. */
function csvField(value: string): string {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return `"${safe.replaceAll('"', '""')}"`;
}

/** Payments as CSV, with a first line of names. */
export function paymentsCsv(views: readonly SessionView[]): string {
  const lines = [[...columns], ...views.map(rowOf).map((row) => columns.map((column) => row[column]))];
  return lines.map((line) => `${line.map(csvField).join(',')}\r\n`).join('');
}

/** Payments as JSON, in the form of the API. */
export function paymentsJson(views: readonly SessionView[]): string {
  return `${JSON.stringify(views, undefined, 2)}\n`;
}
