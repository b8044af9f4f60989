import type { ReportFormat, ReportType, ReportView } from '@florin/protocol/report-api.ts';
import { fetchFile } from '../api/call.ts';
import { request } from '../api/use-call.ts';
import type { Period } from './period.ts';

const pollMs = 500;

/**
 * Orders a report and waits until it is ready or failed; undefined when the signal aborts. `onProgress` gets the percent. A
 * report ends at `asOf`, the service's time, when its period ends later: the service makes no report of the future.
 */
export async function orderReport(
  merchantId: string,
  order: {
    readonly type: ReportType;
    readonly format: ReportFormat;
    readonly period: Period;
    readonly asOf: number;
    readonly accountId: string;
  },
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress?: (percent: number) => void },
): Promise<ReportView | undefined> {
  const { type, format, period, asOf, accountId } = order;
  const { from } = period;
  const to = Math.max(from + 1, Math.min(period.to, asOf));
  const body = { type, format, from, to, ...(accountId === '' ? {} : { accountId }) };
  const { reportId } = await request(merchantId, 'POST /report/create', { body });
  while (!signal.aborted) {
    const report = await request(merchantId, 'GET /report/:reportId', { params: { reportId } });
    if (report.status !== 'pending') return report;
    onProgress?.(report.progress);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return undefined;
}

/** Reads the report's file below the pages' own origin, the only one that they may read from; it serves the same files. */
export function readFile({ url }: ReportView, signal: AbortSignal): Promise<Blob> {
  return fetchFile(new URL(url).pathname, signal);
}
