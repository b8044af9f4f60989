import type { ReportFormat, ReportType } from '@florin/protocol/report-api.ts';
import { useRef, useState } from 'react';
import { ApiFailure } from '../api/failure.ts';
import { request } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { formatNumber } from '../ui/format.ts';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import { saveFile } from '../ui/save-file.ts';
import { SelectField } from '../ui/select.tsx';
import { toast } from '../ui/toast.tsx';
import { orderReport, readFile } from './order-report.ts';
import { dayText, type Period, periodText } from './period.ts';

const types = [
  { value: 'settlements', label: 'Settlements' },
  { value: 'payments', label: 'Payments' },
  { value: 'fees', label: 'Fees' },
  { value: 'refunds', label: 'Refunds' },
] as const satisfies readonly { readonly value: ReportType; readonly label: string }[];
const formats = [
  { value: 'csv', label: 'CSV, for spreadsheets' },
  { value: 'json', label: 'JSON, for programs' },
] as const;
const fileTypes: Readonly<Record<ReportFormat, string>> = { csv: 'text/csv', json: 'application/json' };

/** Orders a report, shows how far it is, and downloads its file. */
export function DownloadDialog({
  isOpen,
  onClose,
  period,
  asOf,
  accountId,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly period: Period;
  readonly asOf: number;
  readonly accountId: string;
}) {
  const { merchantId } = useMerchant();
  const [type, setType] = useState<ReportType>('settlements');
  const [format, setFormat] = useState<ReportFormat>('csv');
  const [percent, setPercent] = useState<number>();
  const [failure, setFailure] = useState<ApiFailure>();
  const [reason, setReason] = useState('');
  const stop = useRef(new AbortController());
  const close = () => {
    stop.current.abort();
    setPercent(undefined);
    setFailure(undefined);
    setReason('');
    onClose();
  };
  const run = async () => {
    const waiting = new AbortController();
    stop.current = waiting;
    setFailure(undefined);
    setReason('');
    setPercent(0);
    try {
      const order = { type, format, period, asOf, accountId };
      const report = await orderReport(merchantId, order, { signal: waiting.signal, onProgress: setPercent });
      if (report === undefined) return;
      if (report.status === 'failed') {
        setReason(report.reason);
        setPercent(undefined);
        return;
      }
      const wallet = accountId === '' ? '' : `, accountId: ${accountId}`;
      const filters = `${periodText(period)}${wallet}`;
      await request(merchantId, 'POST /export/record', {
        body: { what: `report of ${type}`, format, filters },
      });
      const file = await readFile(report, waiting.signal);
      const days = `${dayText(period.from)}-to-${dayText(period.to - 1)}`;
      saveFile(`${type}-${days}.${format}`, file, fileTypes[format]);
      toast(`${formatNumber(report.rows)} rows downloaded`);
      close();
    } catch (error) {
      if (waiting.signal.aborted) return;
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error);
      setPercent(undefined);
    }
  };
  const isRunning = percent !== undefined;
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title="Download a report"
      description={
        <>
          One row for each payment or refund, <span className="whitespace-nowrap">{periodText(period)}</span>,
          in UTC.
        </>
      }
      size="small"
    >
      <div className="grid gap-4">
        <SelectField label="What" value={type} onChange={setType} options={types} isDisabled={isRunning} />
        <SelectField
          label="Format"
          value={format}
          onChange={setFormat}
          options={formats}
          isDisabled={isRunning}
        />
        <p role="status" className="text-soft tabular-nums">
          {isRunning && `${percent} % made …`}
        </p>
        {reason !== '' && <Notice tone="bad">{reason}</Notice>}
        <FailureNotice error={failure} />
      </div>
      <DialogActions>
        <CancelButton />
        <Button kind="primary" isBusy={isRunning} onClick={() => void run()}>
          Download
        </Button>
      </DialogActions>
    </Dialog>
  );
}
