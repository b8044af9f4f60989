import type { SessionView } from '@florin/protocol/session.ts';
import { useRef, useState } from 'react';
import { ApiFailure } from '../api/failure.ts';
import { request } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/notice.tsx';
import { saveFile } from '../ui/save-file.ts';
import { SelectField } from '../ui/select.tsx';
import { toast } from '../ui/toast.tsx';
import { paymentsCsv, paymentsJson } from './export-rows.ts';
import type { searchBodyOf } from './search-body.ts';

const pageSize = 100;
const formats = [
  { value: 'csv', label: 'CSV, for spreadsheets' },
  { value: 'json', label: 'JSON, as the API answers' },
] as const;

/** Reads every payment that fits the filters, page by page, and saves one file. */
export function ExportDialog({
  isOpen,
  onClose,
  body,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly body: ReturnType<typeof searchBodyOf>;
}) {
  const { merchantId } = useMerchant();
  const [format, setFormat] = useState<'csv' | 'json'>('csv');
  const [count, setCount] = useState<number>();
  const [failure, setFailure] = useState<ApiFailure>();
  const isWanted = useRef(true);
  const close = () => {
    isWanted.current = false;
    setCount(undefined);
    setFailure(undefined);
    onClose();
  };
  const run = async () => {
    isWanted.current = true;
    setFailure(undefined);
    setCount(0);
    try {
      const views: SessionView[] = [];
      let after = '';
      do {
        const reply = await request(merchantId, 'POST /session/search', {
          body: { ...body, size: pageSize, ...(after === '' ? {} : { after }) },
        });
        if (!isWanted.current) return;
        views.push(...reply.sessions);
        setCount(views.length);
        after = reply.hasMore ? reply.nextCursor : '';
      } while (after !== '');
      const day = new Date().toISOString().slice(0, 10);
      const text = format === 'csv' ? paymentsCsv(views) : paymentsJson(views);
      saveFile(`payments-${day}.${format}`, text, format === 'csv' ? 'text/csv' : 'application/json');
      toast(`${views.length.toLocaleString()} payments exported`);
      close();
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error);
      setCount(undefined);
    }
  };
  const isRunning = count !== undefined;
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title="Export payments"
      description="The payments that fit the filters of the list."
      size="small"
    >
      <div className="grid gap-4">
        <SelectField
          label="Format"
          value={format}
          onChange={setFormat}
          options={formats}
          isDisabled={isRunning}
        />
        <p role="status" className="text-soft tabular-nums">
          {isRunning && `${count.toLocaleString()} payments read so far …`}
        </p>
        <FailureNotice error={failure} />
      </div>
      <DialogActions>
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" onClick={() => void run()} isBusy={isRunning}>
          Export
        </Button>
      </DialogActions>
    </Dialog>
  );
}
