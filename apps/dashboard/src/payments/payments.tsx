import { type PaymentFilter, paymentFilters } from '@florin/protocol/payment-view.ts';
import type { SessionView } from '@florin/protocol/session.ts';
import { CreditCard, Download, SlidersHorizontal, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { usePages, useRead } from '../api/use-call.ts';
import { ScreenLink, useScreenPath } from '../app/screen-link.tsx';
import { useFilters } from '../app/use-filters.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { isolated } from '../ui/isolated.ts';
import { OddFilters } from '../ui/odd-filters.tsx';
import { PageHeader } from '../ui/page.tsx';
import { Payer } from '../ui/payer.tsx';
import { SearchBox } from '../ui/search-box.tsx';
import { SessionStatusLines, sessionStatusText } from '../ui/session-status.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Id, Time, Usd } from '../ui/value.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { FilterSheet, filterNames, filterText } from './filter-sheet.tsx';
import { SavedViews } from './saved-views.tsx';
import {
  hasWords,
  type PaymentFilters,
  readableFilters,
  refundedStatus,
  searchBodyOf,
} from './search-body.ts';
import type { PaymentToken } from './types.ts';
import { type FilterChoices, useFilterChoices } from './use-filter-choices.ts';

const pageSize = 25;

/** The states that the list can be narrowed to, in the order of a payment's life. */
const tabs: readonly { readonly status: string; readonly label: string }[] = [
  { status: '', label: 'All' },
  { status: 'completed', label: sessionStatusText('completed') },
  { status: refundedStatus, label: 'Refunded' },
  ...(['settling', 'paid', 'settlement_pending', 'initialized', 'expired', 'cancelled'] as const).map(
    (status) => ({ status, label: sessionStatusText(status) }),
  ),
];

/** What was bought, in one line. */
function titleOf({ session }: SessionView): string {
  const [first, ...others] = session.lineItems.items;
  const name = first?.productData?.productName ?? '';
  if (name === '') return 'Payment';
  // Isolated only beside other words: a text that is one isolate is cut at the wrong end.
  return others.length === 0 ? name : `${isolated(name)} and ${others.length} more`;
}

const none = <span className="text-faint">—</span>;

function columnsOf(tokenOf: (tokenId: string) => PaymentToken | undefined): readonly Column<SessionView>[] {
  const tokenName = (tokenId: string) => {
    const token = tokenOf(tokenId);
    return token === undefined ? tokenId : `${token.symbol} on ${token.network}`;
  };
  return [
    {
      key: 'amount',
      header: 'Amount',
      isWide: 'phone',
      cell: (view) => (
        <>
          <Usd micro={view.session.amount} className="font-medium" />
          <span className="block truncate text-sm text-soft sm:hidden">{titleOf(view)}</span>
          <LinkName of={view} className="sm:hidden" />
        </>
      ),
    },
    {
      key: 'status',
      header: 'Status',
      cell: (view) => (
        <>
          <SessionStatusLines {...view} tokenOf={tokenOf} />
          <Time time={view.session.createAt} className="block text-sm text-soft sm:hidden" />
        </>
      ),
    },
    {
      key: 'title',
      header: 'For',
      cell: (view) => (
        <>
          <span className="block truncate">{titleOf(view)}</span>
          <LinkName of={view} />
        </>
      ),
      isWide: true,
      from: 'sm',
    },
    {
      key: 'payer',
      header: 'Payer',
      from: 'lg',
      cell: (view) => <Payer {...view} />,
    },
    {
      key: 'token',
      header: 'Paid with',
      from: 'xl',
      cell: ({ session: { paidToken } }) =>
        paidToken === '' ? none : <span className="whitespace-nowrap">{tokenName(paidToken)}</span>,
    },
    {
      key: 'net',
      header: 'You receive',
      isAtEnd: true,
      isExtra: true,
      cell: ({ transaction }) => (transaction === undefined ? none : <Usd micro={transaction.netValue} />),
    },
    {
      key: 'fee',
      header: 'Fee',
      isAtEnd: true,
      isExtra: true,
      cell: ({ transaction }) => (transaction === undefined ? none : <Usd micro={transaction.feeValue} />),
    },
    {
      key: 'refunded',
      header: 'Refunded',
      isAtEnd: true,
      isExtra: true,
      cell: ({ session: { refundedAmount } }) =>
        refundedAmount === 0 ? none : <Usd micro={refundedAmount} />,
    },
    { key: 'id', header: 'Id', isExtra: true, cell: ({ session }) => <Id id={session.sessionId} /> },
    {
      key: 'settled',
      header: 'Settled',
      isAtEnd: true,
      isExtra: true,
      cell: ({ session }) => (
        <Time time={session.settlementSucceededTime ?? ''} empty="—" className="text-soft" />
      ),
    },
    {
      key: 'created',
      header: 'Created',
      from: 'sm',
      isAtEnd: true,
      cell: ({ session }) => <Time time={session.createAt} className="text-soft" />,
    },
  ];
}

/** The name of its link, where that says more than what was bought. */
function LinkName({ of, className }: { readonly of: SessionView; readonly className?: string }) {
  const { linkName = '' } = of;
  if (linkName === '' || titleOf(of) === linkName) return null;
  return <span className={classNames('block truncate text-sm text-soft', className)}>{linkName}</span>;
}

/** All payments: search, filters, saved views and export. */
export default function Payments() {
  const filters = useFilters<PaymentFilter>(paymentFilters, readableFilters);
  const body = searchBodyOf(filters.values);
  const pathOf = useScreenPath();
  const [isFiltering, setFiltering] = useState(false);
  const [isExporting, setExporting] = useState(false);
  const tokens = useRead('GET /token/list', {});
  const choices = useFilterChoices(filters.values, isFiltering);
  // No payment has signs alone in its words.
  const canFind = hasWords(filters.values.text);
  const list = usePages(
    'POST /session/search',
    (after) => ({ body: { ...body, size: pageSize, ...(after === undefined ? {} : { after }) } }),
    ({ nextCursor, hasMore }) => (hasMore ? nextCursor : ''),
    { isOn: canFind },
  );
  const rows = canFind ? list.data?.pages.flatMap(({ sessions }) => sessions) : [];
  const tokenOf = (tokenId: string) => tokens.data?.tokens.find((each) => each.tokenId === tokenId);
  // A search looks at a number of payments and may find none of them: go on until something fits or the list ends.
  const isSearchingOn = canFind && rows?.length === 0 && list.hasNextPage;
  const { fetchNextPage, isFetchingNextPage } = list;
  useEffect(() => {
    if (isSearchingOn && !isFetchingNextPage) void fetchNextPage();
  }, [isSearchingOn, isFetchingNextPage, fetchNextPage]);

  return (
    <>
      <PageHeader
        title="Payments"
        actions={
          <Button icon={<Download />} onClick={() => setExporting(true)} disabled={rows?.length === 0}>
            Export
          </Button>
        }
      />
      <StatusTabs value={filters.values.status} onChange={(status) => filters.set({ status })} />
      <div className="mb-3 flex flex-wrap gap-2">
        <SearchBox
          label="Search payments"
          placeholder="Id or its end, product, link, e-mail, metadata, $50"
          value={filters.values.text}
          onChange={(text) => filters.set({ text })}
        />
        <Button icon={<SlidersHorizontal />} onClick={() => setFiltering(true)}>
          Filters
        </Button>
        <SavedViews
          filters={filters.values}
          isAnySet={filters.isAnySet}
          onChoose={(chosen) =>
            filters.set(Object.fromEntries(paymentFilters.map((name) => [name, chosen[name] ?? ''])))
          }
        />
      </div>
      <OddFilters of={filters} />
      <FilterChips
        values={filters.values}
        choices={choices}
        onRemove={(name) => filters.set({ [name]: '' })}
      />
      <Table
        label="Payments"
        columns={columnsOf(tokenOf)}
        choiceName="payments"
        source={{
          rows: isSearchingOn ? undefined : rows,
          error: canFind ? list.error : undefined,
          onRetry: () => void list.refetch(),
        }}
        keyOf={({ session }) => session.sessionId}
        hrefOf={({ session }) => pathOf(`payments/${session.sessionId}`)}
        onClearFilters={filters.isAnySet ? filters.clear : undefined}
        empty={
          <Empty
            icon={<CreditCard />}
            title="No payments yet"
            action={
              <ScreenLink path="links" className={buttonClass('primary')}>
                Make a payment link
              </ScreenLink>
            }
          >
            Every order shows here from the moment it is opened.
          </Empty>
        }
        more={
          list.hasNextPage ? { onMore: () => void fetchNextPage(), isLoading: isFetchingNextPage } : undefined
        }
        skeletonRows={10}
      />
      <FilterSheet
        isOpen={isFiltering}
        onClose={() => setFiltering(false)}
        values={filters.values}
        onApply={filters.set}
        tokens={tokens.data?.tokens ?? []}
        choices={choices}
      />
      <ExportDialog isOpen={isExporting} onClose={() => setExporting(false)} body={body} />
    </>
  );
}

/** The filters of the sheet that are set, each with its button that removes it. */
function FilterChips({
  values,
  choices,
  onRemove,
}: {
  readonly values: PaymentFilters;
  readonly choices: FilterChoices;
  readonly onRemove: (name: PaymentFilter) => void;
}) {
  const chips = filterNames.filter(({ name }) => values[name] !== '');
  if (chips.length === 0) return null;
  return (
    <ul aria-label="Filters in use" className="mb-3 flex flex-wrap gap-1.5">
      {chips.map(({ name, label }) => (
        <li key={name}>
          <button
            type="button"
            onClick={() => onRemove(name)}
            aria-label={`Remove the filter ${label}`}
            className="inline-flex h-7 max-w-72 items-center gap-1.5 rounded-full border border-line-strong bg-raised pr-2 pl-3 text-sm hover:bg-sunken"
          >
            <span className="text-soft">{label}</span>
            <span className="truncate font-medium">{filterText(name, values[name], choices)}</span>
            <X aria-hidden className="size-3.5 shrink-0 text-faint" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function StatusTabs({
  value,
  onChange,
}: {
  readonly value: string;
  readonly onChange: (status: string) => void;
}) {
  return (
    <fieldset className="mb-3 flex min-w-0 gap-1.5 overflow-x-auto [scrollbar-width:none]">
      <legend className="sr-only">Status</legend>
      {tabs.map(({ status, label }) => (
        <button
          key={label}
          type="button"
          aria-pressed={value === status}
          onClick={() => onChange(status)}
          className={classNames(
            'h-9 shrink-0 rounded-lg border px-3 font-medium -outline-offset-2 md:h-8',
            value === status
              ? 'border-accent bg-tint text-accent'
              : 'border-line-strong bg-raised text-soft hover:bg-sunken hover:text-ink',
          )}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
