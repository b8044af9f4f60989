import { Download, ScrollText } from 'lucide-react';
import { useState } from 'react';
import { type ReplyTo, sendForText } from '../api/call.ts';
import { ApiFailure, sayFailure } from '../api/failure.ts';
import { usePages, useRead } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { useFilters } from '../app/use-filters.ts';
import { actNames, actTitle } from '../ui/act-title.ts';
import { Button } from '../ui/button.tsx';
import { ChangedValue } from '../ui/changed-value.tsx';
import { dayEnd, dayStart } from '../ui/day.ts';
import { Sheet } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { OddFilters } from '../ui/odd-filters.tsx';
import { Fact, Facts, PageHeader, Section } from '../ui/page.tsx';
import { saveFile } from '../ui/save-file.ts';
import { SelectField } from '../ui/select.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { Id, Time } from '../ui/value.tsx';
import { differenceOf } from './difference.ts';

type Entry = ReplyTo<'GET /audit/list'>['entries'][number];

const filterNames = ['actor', 'action', 'subject', 'from', 'to'] as const;
type AuditFilters = Readonly<Record<(typeof filterNames)[number], string>>;

const columns: readonly Column<Entry>[] = [
  {
    key: 'act',
    header: 'Act',
    isWide: true,
    cell: ({ action, actorName, at }) => (
      <>
        <span className="block truncate font-medium">{actTitle(action)}</span>
        <span className="block truncate text-sm text-soft sm:hidden">
          <bdi>{actorName}</bdi>
        </span>
        <span className="sr-only">
          <Time time={at} />
        </span>
      </>
    ),
  },
  {
    key: 'who',
    header: 'By',
    from: 'sm',
    cell: ({ actorName, actorKind }) => (
      <span className="block max-w-52 truncate">
        <bdi>{actorName === '' ? actorKind : actorName}</bdi>
        {actorKind === 'staff' && <span className="text-soft"> (staff)</span>}
      </span>
    ),
  },
  {
    key: 'subject',
    header: 'On',
    from: 'lg',
    cell: ({ subject }) => (subject === '' ? <span className="text-faint">—</span> : <Id id={subject} />),
  },
  {
    key: 'from',
    header: 'From',
    from: 'xl',
    cell: ({ clientAddress }) => <span className="font-mono text-sm text-soft">{clientAddress}</span>,
  },
  { key: 'at', header: 'When', isAtEnd: true, cell: ({ at }) => <Time time={at} className="text-soft" /> },
];

const isAct = (action: string) => actNames.some(({ value }) => value === action);

/** The filters as the service takes them; days that no calendar has and unknown acts are left out, and the page says so. */
function queryOf({ actor, action, subject, from, to }: AuditFilters) {
  const act = isAct(action) ? action : '';
  const given = {
    actor,
    action: act,
    subject,
    from: secondsText(dayStart(from)),
    to: secondsText(dayEnd(to)),
  };
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
  const [opened, setOpened] = useState<Entry>();
  return (
    <>
      <PageHeader
        title="Audit log"
        description="What members changed in this shop: who, from where, and what was before. Entries are never changed or removed. Changes by API keys are not here; Events shows those of products, sessions and refunds."
        actions={<ExportButton query={query} />}
      />
      <Filters values={filters.values} onChange={filters.set} />
      <OddFilters of={filters} />
      <Table
        label="Audit log"
        columns={columns}
        source={{
          rows: log.data?.pages.flatMap(({ entries }) => entries),
          error: log.error,
          onRetry: () => void log.refetch(),
        }}
        keyOf={({ entryId }) => entryId}
        onOpen={setOpened}
        onClearFilters={filters.isAnySet ? filters.clear : undefined}
        more={
          log.hasNextPage
            ? { onMore: () => void log.fetchNextPage(), isLoading: log.isFetchingNextPage }
            : undefined
        }
        empty={
          <Empty icon={<ScrollText />} title="Nothing was changed yet">
            The first change of a member appears here.
          </Empty>
        }
      />
      <EntrySheet
        entry={opened}
        onClose={() => setOpened(undefined)}
        onNarrow={(narrowed) => {
          setOpened(undefined);
          filters.set(narrowed);
        }}
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
        value={isAct(values.action) ? values.action : ''}
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

function EntrySheet({
  entry,
  onClose,
  onNarrow,
}: {
  readonly entry: Entry | undefined;
  readonly onClose: () => void;
  readonly onNarrow: (filters: Partial<AuditFilters>) => void;
}) {
  if (entry === undefined) return null;
  const changes = differenceOf(entry.before, entry.after);
  return (
    <Sheet
      isOpen
      onClose={onClose}
      title={actTitle(entry.action)}
      description={
        <>
          By <bdi>{entry.actorName}</bdi>
        </>
      }
    >
      <Facts>
        <Fact name="When">
          <Time isWhole time={entry.at} />
        </Fact>
        <Fact name="On">{entry.subject === '' ? '—' : <Id id={entry.subject} isWhole />}</Fact>
        <Fact name="From">
          <span className="font-mono text-sm">{entry.clientAddress}</span>
        </Fact>
        <Fact name="Browser">{entry.userAgent === '' ? '—' : entry.userAgent}</Fact>
        <Fact name="Request">
          <Id id={entry.requestId} isWhole />
        </Fact>
      </Facts>
      <div className="mt-4 flex flex-wrap gap-2">
        {entry.actorId !== '' && (
          <Button size="small" onClick={() => onNarrow({ actor: entry.actorId })}>
            All acts of this person
          </Button>
        )}
        {entry.subject !== '' && (
          <Button size="small" onClick={() => onNarrow({ subject: entry.subject })}>
            All acts on this
          </Button>
        )}
      </div>
      <div className="mt-6">
        <Section title="What changed">
          {changes.length === 0 ? (
            <p className="text-soft">No field of the object changed.</p>
          ) : (
            <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line">
              {changes.map(({ path, before, after }) => (
                <li key={path} className="grid gap-1 px-3 py-2">
                  <span className="font-mono text-xs text-soft">{path}</span>
                  {before !== undefined && <ChangedValue side="before" text={before} />}
                  {after !== undefined && <ChangedValue side="after" text={after} />}
                </li>
              ))}
            </ul>
          )}
        </Section>
      </div>
    </Sheet>
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
