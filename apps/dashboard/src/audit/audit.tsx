import { Download, ScrollText } from 'lucide-react';
import { useState } from 'react';
import { type ReplyTo, sendForText } from '../api/call.ts';
import { ApiFailure, sayFailure } from '../api/failure.ts';
import { usePages } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { actTitle } from '../ui/act-title.ts';
import { Button } from '../ui/button.tsx';
import { ChangedValue } from '../ui/changed-value.tsx';
import { Sheet } from '../ui/dialog.tsx';
import { Fact, Facts, PageHeader, Section } from '../ui/page.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { Id, Time } from '../ui/value.tsx';
import { differenceOf } from './difference.ts';

type Entry = ReplyTo<'GET /audit/list'>['entries'][number];

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

export default function Audit() {
  const log = usePages(
    'GET /audit/list',
    (after) => ({ query: after === undefined ? {} : { after } }),
    ({ nextCursor }) => nextCursor,
  );
  const [opened, setOpened] = useState<Entry>();
  return (
    <>
      <PageHeader
        title="Audit log"
        description="What members changed in this shop: who, from where, and what was before. Entries are never changed or removed. Changes by API keys are not here; Events shows those of products, sessions and refunds."
        actions={<ExportButton />}
      />
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
      <EntrySheet entry={opened} onClose={() => setOpened(undefined)} />
    </>
  );
}

function EntrySheet({ entry, onClose }: { readonly entry: Entry | undefined; readonly onClose: () => void }) {
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

/** The whole log as CSV, page by page. */
function ExportButton() {
  const { merchantId } = useMerchant();
  const [count, setCount] = useState<number>();
  const run = async () => {
    setCount(0);
    try {
      const lines: string[] = [];
      let after: string | undefined;
      do {
        const query = { format: 'csv', ...(after === undefined ? {} : { after }) };
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
