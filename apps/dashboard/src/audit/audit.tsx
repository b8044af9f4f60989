import { actNames } from '@florin/protocol/act-title.ts';
import { Download, ScrollText } from 'lucide-react';
import { useState } from 'react';
import { sendForText } from '../api/call.ts';
import { ApiFailure, sayFailure } from '../api/failure.ts';
import { usePages, useRead } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { useFilters } from '../app/use-filters.ts';
import { Button } from '../ui/button.tsx';
import { dayEnd, dayStart } from '../ui/day.ts';
import { TextField } from '../ui/field.tsx';
import { OddFilters } from '../ui/odd-filters.tsx';
import { PageHeader } from '../ui/page.tsx';
import { saveFile } from '../ui/save-file.ts';
import { SelectField } from '../ui/select.tsx';
import { Empty } from '../ui/states.tsx';
import { toast } from '../ui/toast.tsx';
import { Id } from '../ui/value.tsx';
import { AuditLog } from './audit-log.tsx';

const filterNames = ['actor', 'action', 'subject', 'from', 'to'] as const;
type AuditFilters = Readonly<Record<(typeof filterNames)[number], string>>;

const isAct = (action: string) => actNames.some(({ value }) => value === action);

/** The filters as the service takes them. */
function queryOf({ from, to, ...texts }: AuditFilters) {
  const given = { ...texts, from: secondsText(dayStart(from)), to: secondsText(dayEnd(to)) };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}

const secondsText = (seconds: number | undefined) => (seconds === undefined ? '' : String(seconds));

export default function Audit() {
  const filters = useFilters(filterNames, {
    action: isAct,
    from: (day) => dayStart(day) !== undefined,
    to: (day) => dayEnd(day) !== undefined,
  });
  const query = queryOf(filters.values);
  const log = usePages(
    'GET /audit/list',
    (after) => ({ query: after === undefined ? query : { ...query, after } }),
    ({ nextCursor }) => nextCursor,
  );
  return (
    <>
      <PageHeader
        title="Audit log"
        description="What members changed in this shop: who, from where, and what was before. Entries are never changed or removed. Changes by API keys are not here; Events shows those of products, sessions and refunds."
        actions={<ExportButton query={query} />}
      />
      <Filters values={filters.values} onChange={filters.set} />
      <OddFilters of={filters} />
      <AuditLog
        label="Audit log"
        log={log}
        onClearFilters={filters.isAnySet ? filters.clear : undefined}
        onNarrow={filters.set}
        empty={
          <Empty icon={<ScrollText />} title="Nothing was changed yet">
            The first change of a member appears here.
          </Empty>
        }
      />
    </>
  );
}

/** Who acted, the act, and the days. */
function Filters({
  values,
  onChange,
}: {
  readonly values: AuditFilters;
  readonly onChange: (changed: Partial<AuditFilters>) => void;
}) {
  const members = useRead('GET /member/list', {}).data?.members ?? [];
  const people = members.map(({ userId, email }) => ({ value: userId, label: email }));
  const isNamed = values.actor === '' || people.some(({ value }) => value === values.actor);
  return (
    <div className="mb-3 grid grid-cols-2 gap-2 xl:grid-cols-4">
      <SelectField
        label="By"
        value={values.actor}
        onChange={(actor) => onChange({ actor })}
        options={[
          { value: '', label: 'Everybody' },
          ...people,
          ...(isNamed ? [] : [{ value: values.actor, label: values.actor }]),
        ]}
      />
      <SelectField
        label="Act"
        value={values.action}
        onChange={(action) => onChange({ action })}
        options={[{ value: '', label: 'Every act' }, ...actNames]}
      />
      <TextField
        label="From"
        type="date"
        value={values.from}
        onChange={(from) => onChange({ from })}
        className="max-[429px]:col-span-full"
      />
      <TextField
        label="To"
        type="date"
        value={values.to}
        onChange={(to) => onChange({ to })}
        className="max-[429px]:col-span-full"
      />
      {values.subject !== '' && (
        <div className="col-span-full flex items-center gap-2 text-soft">
          Only acts on <Id id={values.subject} />
          <Button size="small" onClick={() => onChange({ subject: '' })}>
            Show all
          </Button>
        </div>
      )}
    </div>
  );
}

/** What the filters leave of the log as CSV, page by page. */
function ExportButton({ query: narrowed }: { readonly query: Readonly<Record<string, string>> }) {
  const { merchantId } = useMerchant();
  const [count, setCount] = useState<number>();
  const run = async () => {
    setCount(0);
    try {
      const lines: string[] = [];
      let after: string | undefined;
      do {
        const query = { ...narrowed, format: 'csv', ...(after === undefined ? {} : { after }) };
        const page = await sendForText('GET /audit/list', { query }, { merchantId });
        // Each page begins with the names of the columns.
        const start = lines.length === 0 ? 0 : page.text.indexOf('\r\n') + 2;
        lines.push(page.text.slice(start));
        after = page.headers.get('florin-next-cursor') || undefined;
        setCount(lines.length);
      } while (after !== undefined);
      saveFile('audit.csv', lines.join(''), 'text/csv');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      toast(sayFailure(error), { isFailure: true });
    } finally {
      setCount(undefined);
    }
  };
  return (
    <Button icon={<Download />} isBusy={count !== undefined} onClick={() => void run()}>
      Export as CSV
    </Button>
  );
}
