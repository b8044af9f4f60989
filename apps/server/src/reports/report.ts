import type { Database, Queryable, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { newId, randomBase62 } from '@florin/protocol/id.ts';
import { moveIn } from '@florin/protocol/machine.ts';
import {
  maxPendingReports,
  maxReportRows,
  type ReportCreateBody,
  type ReportFormat,
  type ReportStatus,
  type ReportType,
  type ReportView,
  reportLifeHours,
} from '@florin/protocol/report-api.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { findAccount } from '#merchants/account.ts';
import { type Clock, unixSeconds } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { Log } from '#telemetry/log.ts';
import { reportMoves } from './report.machine.ts';
import * as sql from './report.sql.ts';
import { linesText, readWindow, reportEnds } from './report-file.ts';

export interface ReportContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly origin: string;
}

/** Sessions or refunds that one step looks at; some megabytes of answers at most. */
const stepSize = 2_000;
/** A report that fails so often in a row is given up. */
const maxFailures = 5;
const expiredBatch = 20;

/**
 * Orders a report. Refuses times that are no period or in the future (400101), an unknown account (100401), and more than ten
 * pending reports of one merchant (900101).
 */
export async function createReport(
  transaction: Transaction,
  deps: ReportContext,
  request: { readonly merchantId: string; readonly body: ReportCreateBody },
): Promise<{ reportId: string; status: ReportStatus }> {
  const { merchantId, body } = request;
  const { type, format, from, to, accountId = '' } = body;
  const now = deps.clock.now();
  if (from >= to) throw fieldRefusal('to', 'must be after from');
  if (to > unixSeconds(now) + 1) throw fieldRefusal('to', 'must not be in the future');
  if (accountId !== '' && (await findAccount(transaction, merchantId, accountId)) === undefined)
    throw new Refusal('account_not_found', { detail: accountId, param: 'accountId' });
  const [count] = await transaction.query(sql.countPending, { merchantId });
  if (Number(count?.pending ?? 0n) >= maxPendingReports)
    throw new Refusal('rate_limited', {
      detail: `${maxPendingReports} reports are pending`,
      retryAfterSeconds: 5,
    });
  const reportId = newId('report', deps.random.bytes);
  await transaction.query(sql.insertReport, {
    ...{ reportId, merchantId, reportType: type, format, accountId, createdAt: now },
    fromTime: new Date(from * 1000),
    toTime: new Date(to * 1000),
    secret: randomBase62(deps.random.bytes),
    expiresAt: new Date(now.getTime() + reportLifeHours * 3_600_000),
  });
  return { reportId, status: 'pending' };
}

/** One report of the merchant. Refuses an unknown one (100709), and one that is older than a day. */
export async function findReport(
  queryable: Queryable,
  deps: Pick<ReportContext, 'clock' | 'origin'>,
  request: { readonly merchantId: string; readonly reportId: string },
): Promise<ReportView> {
  const [row] = await queryable.query(sql.reportById, {
    ...{ reportId: request.reportId, now: deps.clock.now() },
  });
  if (row === undefined || row.merchant_id !== request.merchantId)
    throw new Refusal('report_not_found', request.reportId);
  const status = row.status as ReportStatus;
  const part = row.last_ordinal === 0n ? 0n : (row.done_to * 100n) / row.last_ordinal;
  return {
    reportId: row.report_id,
    type: row.report_type as ReportType,
    format: row.format as ReportFormat,
    from: unixSeconds(row.from_time),
    to: unixSeconds(row.to_time),
    accountId: row.account_id,
    status,
    progress: status === 'ready' ? 100 : Math.min(99, Number(part)),
    reason: row.reason,
    url: status === 'ready' ? `${deps.origin}${reportPath}${row.report_id}/${row.secret}` : '',
    expiresAt: unixSeconds(row.expires_at),
    rows: Number(row.row_count),
    totals: {
      totalValue: String(row.total_value),
      feeValue: String(row.fee_value),
      netValue: String(row.net_value),
    },
    createAt: formatTimestamp(row.created_at),
  };
}

/** The path of files, with a slash at the end. */
export const reportPath = '/reports/';

/** The file of a report in pieces, each read when the one before was sent; undefined without a ready report and its secret. */
export async function openReport(
  queryable: Queryable,
  deps: Pick<ReportContext, 'clock'>,
  request: { readonly reportId: string; readonly isSecret: (secret: string) => boolean },
): Promise<{ type: ReportType; format: ReportFormat; pieces: AsyncIterable<string> } | undefined> {
  const { reportId, isSecret } = request;
  const [row] = await queryable.query(sql.reportById, { reportId, now: deps.clock.now() });
  if (row === undefined || row.status !== 'ready' || !isSecret(row.secret)) return undefined;
  const type = row.report_type as ReportType;
  const format = row.format as ReportFormat;
  return { type, format, pieces: piecesOf(queryable, row, reportEnds(type, format)) };
}

async function* piecesOf(
  queryable: Queryable,
  { report_id: reportId, piece_count: count }: sql.ReportRow,
  { head, tail }: { head: string; tail: string },
): AsyncGenerator<string> {
  yield head;
  for (let position = 0; position < count; position += 1) {
    const [piece] = await queryable.query(sql.pieceAt, { reportId, position });
    // Deleted meanwhile: a file that ends early must not look whole.
    if (piece === undefined) throw new Error(`the report ${reportId} has no piece ${position}`);
    yield piece.body;
  }
  if (tail !== '') yield tail;
}

/** One step of one report. False when none is pending. A report whose steps keep failing is given up. */
export async function makeReports(
  db: Pick<Database, 'transaction' | 'query'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<boolean> {
  await db.query(sql.deleteExpired, { now: clock.now(), limit: expiredBatch });
  let reportId: string | undefined;
  try {
    return await db.transaction(async (transaction) => {
      const [row] = await transaction.query(sql.lockNextReport, { now: clock.now() });
      reportId = row?.report_id;
      if (row !== undefined) await continueReport(transaction, row);
      return row !== undefined;
    });
  } catch (error) {
    if (reportId === undefined) throw error;
    log.error('reports.step_failed', error, { reportId });
    await giveUpLater(db, reportId);
    return true;
  }
}

async function continueReport(transaction: Transaction, row: sql.ReportRow): Promise<void> {
  const { report_id: reportId, merchant_id: merchantId, piece_count: position } = row;
  const [type, format] = [row.report_type as ReportType, row.format as ReportFormat];
  const { reached, lines } = await readWindow(transaction, type, {
    ...{ merchantId, accountId: row.account_id, fromTime: row.from_time, toTime: row.to_time },
    ...{ doneTo: row.done_to, lastOrdinal: row.last_ordinal, limit: stepSize },
  });
  const sumOf = (column: string) => lines.reduce((sum, line) => sum + BigInt(line[column] ?? 0), 0n);
  const next = {
    reportId,
    doneTo: reached ?? row.done_to,
    pieceCount: position + (lines.length > 0 ? 1 : 0),
    rowCount: row.row_count + BigInt(lines.length),
    totalValue: row.total_value + sumOf('totalValue'),
    feeValue: row.fee_value + sumOf('feeValue'),
    netValue: row.net_value + sumOf('netValue'),
  };
  if (next.rowCount > BigInt(maxReportRows)) {
    const reason = `It has more than ${maxReportRows.toLocaleString('en')} rows: order it for a shorter time.`;
    await transaction.query(sql.updateReport, { ...next, status: statusAfter('fail'), reason });
    return;
  }
  if (lines.length > 0) {
    const body = linesText(type, format, lines, row.row_count === 0n);
    await transaction.query(sql.insertPiece, { reportId, merchantId, position, body });
  }
  const status = reached === undefined ? statusAfter('finish') : 'pending';
  await transaction.query(sql.updateReport, { ...next, status, reason: '' });
}

async function giveUpLater(db: Pick<Database, 'transaction'>, reportId: string): Promise<void> {
  await db.transaction(async (transaction) => {
    const [row] = await transaction.query(sql.noteReportFailure, { reportId });
    if (row === undefined || row.failed_attempts < maxFailures) return;
    const none = { doneTo: 0, pieceCount: 0, rowCount: 0, totalValue: 0, feeValue: 0, netValue: 0 };
    const reason = 'The service could not make it. Order it again, or ask the operator.';
    await transaction.query(sql.updateReport, { ...none, reportId, status: statusAfter('fail'), reason });
  });
}

/** The status of a pending report after a trigger. */
function statusAfter(trigger: 'finish' | 'fail'): ReportStatus {
  const status = moveIn(reportMoves, 'pending', trigger)?.to;
  if (status === undefined) throw new Error(`a pending report refuses ${trigger}`);
  return status;
}
