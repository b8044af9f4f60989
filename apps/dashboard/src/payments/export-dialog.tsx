import { useRef, useState } from 'react';
import { ApiFailure } from '../api/failure.ts';
import { readInTurn } from '../api/read-in-turn.ts';
import { serviceNow } from '../api/service-clock.ts';
import { request } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { formatNumber } from '../ui/format.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { saveFile } from '../ui/save-file.ts';
import { SelectField } from '../ui/select.tsx';
import { toast } from '../ui/toast.tsx';
import { exportForms, filtersText } from './export-rows.ts';
import type { searchBodyOf } from './search-body.ts';

const pageSize = 100;
const formats = [
  { value: 'csv', label: 'CSV, for spreadsheets' },
  { value: 'json', label: 'JSON, for programs' },
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
  const readPage = (after: string) =>
    readInTurn(
      () =>
        request(merchantId, 'POST /session/search', {
          body: { ...body, size: pageSize, ...(after === '' ? {} : { after }) },
        }),
      () => isWanted.current,
    );
  const run = async () => {
    isWanted.current = true;
    setFailure(undefined);
    setCount(0);
    try {
      await request(merchantId, 'POST /export/record', {
        body: { what: 'list of payments', format, filters: filtersText(body) },
      });
      const form = exportForms[format];
      // The browser keeps large files of parts on its disk.
      const parts = [new Blob([form.begin])];
      let read = 0;
      let after = '';
      do {
        const reply = await readPage(after);
        if (!isWanted.current) return;
        parts.push(new Blob([form.page(reply.sessions, read === 0)]));
        read += reply.sessions.length;
        setCount(read);
        after = reply.hasMore ? reply.nextCursor : '';
      } while (after !== '');
      const day = new Date(serviceNow()).toISOString().slice(0, 10);
      saveFile(`payments-${day}.${format}`, new Blob([...parts, form.end]), form.type);
      toast(`${formatNumber(read)} payments exported`);
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
          hint="Both have the same columns. Amounts are in US dollars, and times in UTC."
          isDisabled={isRunning}
        />
        <p role="status" className="text-soft tabular-nums">
          {isRunning && `${formatNumber(count)} payments read so far …`}
        </p>
        <FailureNotice error={failure} />
      </div>
      <DialogActions>
        <CancelButton />
        <Button kind="primary" onClick={() => void run()} isBusy={isRunning}>
          Export
        </Button>
      </DialogActions>
    </Dialog>
  );
}
