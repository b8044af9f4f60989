import { Download } from 'lucide-react';
import { useState } from 'react';
import { sendForText } from '../api/call.ts';
import { ApiFailure, sayFailure } from '../api/failure.ts';
import { readInTurn } from '../api/read-in-turn.ts';
import { useMerchantId } from '../app/merchant.ts';
import { Button } from '../ui/button.tsx';
import { saveFile } from '../ui/save-file.ts';
import { toast } from '../ui/toast.tsx';
import type { AuditCall } from './use-audit.ts';

/** What the filters leave of a log as CSV, page by page. */
export function AuditExport({
  of: { call, query: narrowed },
}: {
  readonly of: { readonly call: AuditCall; readonly query: Readonly<Record<string, string>> };
}) {
  const merchantId = useMerchantId();
  const [isRunning, setRunning] = useState(false);
  const run = async () => {
    setRunning(true);
    try {
      const lines: string[] = [];
      let after: string | undefined;
      do {
        const query = { ...narrowed, format: 'csv', ...(after === undefined ? {} : { after }) };
        const page = await readInTurn(() => sendForText(call, { query }, { merchantId }));
        // Each page begins with the names of the columns.
        const start = lines.length === 0 ? 0 : page.text.indexOf('\r\n') + 2;
        lines.push(page.text.slice(start));
        after = page.headers.get('florin-next-cursor') || undefined;
      } while (after !== undefined);
      saveFile('audit.csv', lines.join(''), 'text/csv');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      toast(sayFailure(error), { isFailure: true });
    } finally {
      setRunning(false);
    }
  };
  return (
    <Button icon={<Download />} isBusy={isRunning} onClick={() => void run()}>
      Export as CSV
    </Button>
  );
}
