import type { PaymentException } from '@florin/protocol/exception.ts';
import { CircleCheck } from 'lucide-react';
import { useEffect } from 'react';
import { usePages, useRead } from '../api/use-call.ts';
import { useFilters } from '../app/use-filters.ts';
import { exceptionText } from '../ui/exception-text.ts';
import { OddFilters } from '../ui/odd-filters.tsx';
import { PageHeader } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Address, Id, Time } from '../ui/value.tsx';
import { ExceptionAmount, ExceptionBadge, type ExceptionToken } from './exception-parts.tsx';
import { ExceptionSheet } from './exception-sheet.tsx';

const pageSize = 100;
/** The list has no filter by status, so the page looks for open ones in this many pages by itself. */
const mostPages = 10;

function useExceptions() {
  const list = usePages(
    'GET /exception/list/:page/:size',
    (after) => ({
      params: { page: 1, size: pageSize },
      ...(after === undefined ? {} : { query: { after } }),
    }),
    ({ nextCursor, hasMore }) => (hasMore ? nextCursor : ''),
  );
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  const isLookingOn = hasNextPage && !isError && (list.data?.pages.length ?? 0) < mostPages;
  useEffect(() => {
    if (isLookingOn && !isFetching) void fetchNextPage();
  }, [isLookingOn, isFetching, fetchNextPage]);
  return { list, isLookingOn, all: list.data?.pages.flatMap(({ exceptions }) => exceptions) };
}

/** Payments that came late, short, twice or in another token; the open ones first. */
export default function Exceptions() {
  const filters = useFilters(['tab', 'exception'], { tab: ['open', 'resolved'] });
  const tab = filters.values.tab === 'resolved' ? 'resolved' : 'open';
  const { list, isLookingOn, all } = useExceptions();
  const tokens = useRead('GET /token/list', {});
  const tokenOf = (wanted: string) => tokens.data?.tokens.find(({ tokenId }) => tokenId === wanted);
  const shown = all?.find(({ exceptionId }) => exceptionId === filters.values.exception);
  const rows = all?.filter(({ status }) => status === tab);
  const open = all?.filter(({ status }) => status === 'open').length;
  return (
    <>
      <PageHeader
        title="Exceptions"
        description="Payments that came late, short, twice or in another token. Most of them go back by themselves."
      />
      <OddFilters of={filters} />
      <Tabs
        label="Exceptions"
        value={tab}
        onChange={(next) => filters.set({ tab: next === 'open' ? '' : next })}
        tabs={[
          { name: 'open', label: 'Open', count: isLookingOn ? undefined : open },
          { name: 'resolved', label: 'Resolved' },
        ]}
      >
        <Table
          label="Exceptions"
          columns={columnsOf(tokenOf)}
          source={{
            rows: rows?.length === 0 && isLookingOn ? undefined : rows,
            error: list.error,
            onRetry: () => void list.refetch(),
          }}
          keyOf={({ exceptionId }) => exceptionId}
          onOpen={({ exceptionId }) => filters.set({ exception: exceptionId })}
          skeletonRows={3}
          empty={
            tab === 'open' ? (
              <Empty icon={<CircleCheck />} title="Nothing is open">
                Payments that need a look show here.
              </Empty>
            ) : (
              <Empty icon={<CircleCheck />} title="No resolved exceptions">
                They are kept here once their money is where it belongs.
              </Empty>
            )
          }
          more={
            list.hasNextPage && !isLookingOn
              ? { onMore: () => void list.fetchNextPage(), isLoading: list.isFetchingNextPage }
              : undefined
          }
        />
      </Tabs>
      {shown !== undefined && (
        <ExceptionSheet
          exception={shown}
          token={tokenOf(shown.tokenId)}
          onClose={() => filters.set({ exception: '' })}
        />
      )}
    </>
  );
}

function columnsOf(
  tokenOf: (tokenId: string) => ExceptionToken | undefined,
): readonly Column<PaymentException>[] {
  return [
    {
      key: 'what',
      header: 'What happened',
      isWide: true,
      cell: (exception) => (
        <>
          <span className="block font-medium whitespace-normal">{exceptionText(exception).title}</span>
          <span className="block text-sm whitespace-normal text-soft">{exceptionText(exception).what}</span>
        </>
      ),
    },
    {
      key: 'amount',
      header: 'Amount',
      from: 'sm',
      cell: ({ amountInToken, tokenId }) => (
        <ExceptionAmount amountInToken={amountInToken} tokenId={tokenId} token={tokenOf(tokenId)} />
      ),
    },
    {
      key: 'payment',
      header: 'Payment',
      from: 'lg',
      cell: ({ sessionId, payer }) => (
        <>
          <Id id={sessionId} />
          {payer !== '' && (
            <span className="block text-sm text-soft">
              <Address address={payer} />
            </span>
          )}
        </>
      ),
    },
    {
      key: 'state',
      header: 'Status',
      cell: (exception) => (
        <>
          <ExceptionBadge exception={exception} />
          {exception.status === 'open' && exception.decision === '' && exception.decideBy !== '' && (
            <span className="block text-sm text-soft">
              <Time time={exception.decideBy} />
            </span>
          )}
        </>
      ),
    },
    {
      key: 'came',
      header: 'Arrived',
      from: 'sm',
      isAtEnd: true,
      cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
    },
  ];
}
