import { actTitle } from '@florin/protocol/act-title.ts';
import type { ReactNode } from 'react';
import { useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { useHasScreen } from '../app/open-screens.ts';
import { pageOfId } from '../app/page-of-id.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { Button } from '../ui/button.tsx';
import { ChangedValue } from '../ui/changed-value.tsx';
import { Sheet } from '../ui/dialog.tsx';
import { OddFilters } from '../ui/odd-filters.tsx';
import { Fact, Facts, Section } from '../ui/page.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Id, Time } from '../ui/value.tsx';
import { AuditFilterFields } from './audit-filters.tsx';
import { changesLine, changesOf, subjectName } from './change-words.ts';
import type { useAudit } from './use-audit.ts';

type Entry = ReplyTo<'GET /audit/list'>['entries'][number];
type Narrowed = Partial<Readonly<Record<'actor' | 'subject', string>>>;

const columns: readonly Column<Entry>[] = [
  {
    key: 'act',
    header: 'Act',
    isWide: true,
    cell: ({ action, actorName, before, after, subject, at }) => (
      <>
        <span className="block font-medium max-sm:whitespace-normal sm:truncate">{actTitle(action)}</span>
        <span className="block truncate text-sm text-soft sm:hidden">
          <bdi>{actorName}</bdi>
        </span>
        <span className="block truncate text-sm text-soft max-sm:hidden">
          {changesLine(changesOf(before, after, subject))}
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
    cell: ({ subject, before, after }) => {
      const name = subjectName(before, after);
      return (
        <>
          {name !== '' && (
            <span className="block max-w-52 truncate">
              <bdi>{name}</bdi>
            </span>
          )}
          {subject === '' ? <span className="text-faint">—</span> : <Id id={subject} />}
        </>
      );
    },
  },
  {
    key: 'from',
    header: 'From',
    from: 'xl',
    cell: ({ clientAddress }) => <span className="font-mono text-sm text-soft">{clientAddress}</span>,
  },
  { key: 'at', header: 'When', isAtEnd: true, cell: ({ at }) => <Time time={at} className="text-soft" /> },
];

/**
 * A log of acts, newest first, with its filters: of a merchant, of a person or of the installation. An entry opens with what it
 * changed.
 */
export function AuditLog({
  label,
  of: { filters, log, kind },
  people,
  empty,
}: {
  readonly label: string;
  readonly of: ReturnType<typeof useAudit>;
  /** Whose acts can be chosen by their name. */
  readonly people: readonly { readonly userId: string; readonly email: string }[];
  readonly empty: ReactNode;
}) {
  const [opened, setOpened] = useState<Entry>();
  const narrow = (narrowed: Narrowed) => {
    setOpened(undefined);
    filters.set(narrowed);
  };
  return (
    <>
      <AuditFilterFields {...{ people, kind }} values={filters.values} onChange={filters.set} />
      <OddFilters of={filters} />
      <Table
        label={label}
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
        empty={empty}
      />
      <EntrySheet entry={opened} onClose={() => setOpened(undefined)} onNarrow={narrow} />
    </>
  );
}

/** What an act was on, with the way to its page where this area has one. */
function Subject({ id, name }: { readonly id: string; readonly name: string }) {
  const hasScreen = useHasScreen();
  const page = pageOfId(id);
  return (
    <>
      {page !== undefined && hasScreen(page.screen) ? (
        <ScreenLink
          path={page.path}
          search={page.search as never}
          className="mr-2 text-accent underline-offset-2 hover:underline"
        >
          <bdi>{name || 'Open'}</bdi>
        </ScreenLink>
      ) : (
        <bdi className="mr-2">{name}</bdi>
      )}
      {id === '' ? '—' : <Id id={id} isWhole />}
    </>
  );
}

function EntrySheet({
  entry,
  onClose,
  onNarrow,
}: {
  readonly entry: Entry | undefined;
  readonly onClose: () => void;
  readonly onNarrow: (filters: Narrowed) => void;
}) {
  if (entry === undefined) return null;
  const changes = changesOf(entry.before, entry.after, entry.subject);
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
        <Fact name="On">
          <Subject id={entry.subject} name={subjectName(entry.before, entry.after)} />
        </Fact>
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
            <p className="text-soft">Nothing that can be shown changed.</p>
          ) : (
            <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line">
              {changes.map(({ name, before, after }) => (
                <li key={name} className="grid gap-1 px-3 py-2">
                  <span className="text-sm text-soft">{name}</span>
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
