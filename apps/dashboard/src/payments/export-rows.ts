import { csvField } from '@florin/protocol/csv-text.ts';
import type { SessionView } from '@florin/protocol/session.ts';
import { isoTimestamp } from '@florin/protocol/timestamp.ts';
import { exactDecimal } from '../ui/format.ts';
import { isReturnedUnsettled } from './payment-words.ts';

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
  'linkName',
  'paidToken',
  'settlementToken',
  'payer',
  'payerIsRefundAddress',
  'payerEmail',
  'recipient',
  'initiateTx',
  'completeTx',
  'items',
  'metadata',
] as const;

const microDigits = 6;
/** A time of the API in ISO 8601, as in every CSV. */
const isoTime = (time: string | null) => (time === null || time === '' ? '' : isoTimestamp(time));
const usd = (micro: number | undefined) => (micro === undefined ? '' : exactDecimal(micro, microDigits));

function rowOf({
  session,
  transaction,
  isDeposit,
  linkName = '',
}: SessionView): Record<(typeof columns)[number], string> {
  return {
    sessionId: session.sessionId,
    status: session.status,
    createAt: isoTime(session.createAt),
    paymentSucceededTime: isoTime(session.paymentSucceededTime),
    settlementSucceededTime: isoTime(session.settlementSucceededTime),
    amountInUSD: usd(session.amount),
    feeInUSD: usd(isReturnedUnsettled(session) ? 0 : transaction?.feeValue),
    netInUSD: usd(isReturnedUnsettled(session) ? 0 : transaction?.netValue),
    refundedInUSD: usd(session.refundedAmount),
    linkName,
    paidToken: session.paidToken,
    settlementToken: session.settlementToken,
    payer: session.payer,
    payerIsRefundAddress: isDeposit === true ? 'yes' : '',
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

/** The filters of an export in words, for the audit log; empty for every payment. */
export function filtersText(filters: Readonly<Record<string, unknown>>): string {
  const words = Object.entries(filters).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return words.join(', ').slice(0, maxFiltersText);
}

/** As many as the log takes. */
const maxFiltersText = 1_000;

/** A file in parts, one for each page: a million payments are longer than the longest text that a browser makes. */
interface FileForm {
  readonly type: string;
  readonly begin: string;
  readonly page: (views: readonly SessionView[], isFirst: boolean) => string;
  readonly end: string;
}

const jsonRow = (view: SessionView) => JSON.stringify({ ...rowOf(view), metadata: view.session.metadata });
const csvLine = (fields: readonly string[]) => `${fields.map(csvField).join(',')}\r\n`;

/** CSV with a first line of names, and JSON with the same names, units and times. */
export const exportForms: Readonly<Record<'csv' | 'json', FileForm>> = {
  csv: {
    type: 'text/csv',
    begin: csvLine(columns),
    page: (views) =>
      views
        .map(rowOf)
        .map((row) => csvLine(columns.map((column) => row[column])))
        .join(''),
    end: '',
  },
  json: {
    type: 'application/json',
    begin: '[\n',
    page: (views, isFirst) =>
      views.map((view, index) => `${isFirst && index === 0 ? '' : ',\n'}${jsonRow(view)}`).join(''),
    end: '\n]\n',
  },
};
