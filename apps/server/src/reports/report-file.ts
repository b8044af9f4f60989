import type { Queryable } from '@florin/pg';
import { inertText } from '@florin/protocol/csv-text.ts';
import { formatUsd, microUsd, microUsdToNumber } from '@florin/protocol/money.ts';
import {
  dollarColumns,
  type ReportFormat,
  type ReportType,
  reportColumns,
} from '@florin/protocol/report-api.ts';
import { formatIsoTime } from '@florin/protocol/timestamp.ts';
import { completedRefunds, paidSessions, settledSessions } from './report.sql.ts';

/** A row of a report, by column. */
export type ReportLine = Readonly<Record<string, string | number>>;

/** The next lines of a report, and how far they go. */
export interface ReportWindow {
  /** The last ordinal that was looked at; undefined at the end. */
  readonly reached: bigint | undefined;
  readonly lines: readonly ReportLine[];
}

interface WindowRequest {
  readonly merchantId: string;
  readonly accountId: string;
  readonly fromTime: Date;
  readonly toTime: Date;
  readonly doneTo: bigint;
  readonly lastOrdinal: bigint;
  readonly limit: number;
}

/** Looks at the next rows from which a report is made. */
export async function readWindow(
  queryable: Queryable,
  type: ReportType,
  request: WindowRequest,
): Promise<ReportWindow> {
  if (type === 'refunds') {
    const rows = await queryable.query(completedRefunds, request);
    return windowOf(rows, (row) => ({
      refundId: row.refund_id,
      sessionId: row.session_id,
      orderId: row.order_id,
      accountId: row.account_id,
      refundedAt: timeText(row.at),
      totalValue: value(row.amount),
      reason: row.reason,
      txHash: row.tx_hash,
    }));
  }
  const rows = await queryable.query(type === 'payments' ? paidSessions : settledSessions, request);
  return windowOf(rows, (row) => {
    const all: ReportLine = {
      sessionId: row.session_id,
      receiptId: row.receipt_id,
      orderId: row.order_id,
      accountId: row.account_id,
      linkId: row.business_id,
      paidAt: timeText(row.at),
      settledAt: timeText(row.at),
      payer: row.payer,
      paidToken: row.paid_token,
      paidAmountInToken: String(row.paid_amount),
      recipient: row.recipient,
      settlementToken: row.settlement_token,
      feeModel: row.fee_model,
      totalValue: value(row.total_value),
      feeValue: value(row.fee_value),
      netValue: value(row.net_value),
      refundedAmount: value(row.refunded_amount),
      initiateTx: row.initiate_tx,
      completeTx: row.complete_tx,
    };
    return Object.fromEntries(reportColumns[type].map((column) => [column, all[column] ?? '']));
  });
}

function windowOf<Row extends { readonly reached: bigint | null; readonly is_meant: boolean }>(
  rows: readonly Row[],
  lineOf: (row: Row) => ReportLine,
): ReportWindow {
  // A window without lines is one row that only says how far it went.
  const meant = rows.filter((row) => row.is_meant);
  return { reached: rows[0]?.reached ?? undefined, lines: meant.map(lineOf) };
}

const timeText = (time: Date | null) => (time === null ? '' : formatIsoTime(time));
const value = (amount: bigint) => microUsdToNumber(microUsd(amount));

/** The texts before the first line and after the last. */
export function reportEnds(type: ReportType, format: ReportFormat): { head: string; tail: string } {
  return format === 'csv'
    ? {
        head: `${reportColumns[type].map((column) => dollarColumns[column] ?? column).join(',')}\r\n`,
        tail: '',
      }
    : { head: '[', tail: '\n]\n' };
}

/** Lines as they stand in the file. `isFirst`: none stands before them. */
export function linesText(
  type: ReportType,
  format: ReportFormat,
  lines: readonly ReportLine[],
  isFirst: boolean,
): string {
  if (format === 'csv') {
    const columns = reportColumns[type];
    return lines
      .map((line) => `${columns.map((column) => csvField(column, line[column] ?? '')).join(',')}\r\n`)
      .join('');
  }
  return lines.map((line, index) => `${isFirst && index === 0 ? '' : ','}\n${JSON.stringify(line)}`).join('');
}

/** A field of RFC 4180, with a value in US dollars. */
function csvField(column: string, field: string | number): string {
  if (typeof field === 'number')
    return dollarColumns[column] === undefined ? String(field) : formatUsd(microUsd(field));
  const safe = inertText(field);
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
