import type { Refund } from '@florin/protocol/refund.ts';
import { Undo2 } from 'lucide-react';
import { usePages } from '../api/use-call.ts';
import { ScreenLink, useScreenPath } from '../app/screen-link.tsx';
import { buttonClass } from '../ui/button.tsx';
import { PageHeader } from '../ui/page.tsx';
import { RefundStatusBadge } from '../ui/refund-status.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Id, Time, Usd } from '../ui/value.tsx';

const pageSize = 25;

const columns: readonly Column<Refund>[] = [
  { key: 'amount', header: 'Amount', cell: ({ amount }) => <Usd micro={amount} className="font-medium" /> },
  {
    key: 'status',
    header: 'Status',
    cell: ({ status, createAt }) => (
      <>
        <RefundStatusBadge status={status} />
        <Time time={createAt} className="block text-sm text-soft sm:hidden" />
      </>
    ),
  },
  {
    key: 'reason',
    header: 'Reason',
    isWide: true,
    from: 'sm',
    cell: ({ reason }) => reason || <span className="text-faint">—</span>,
  },
  {
    key: 'payment',
    header: 'Payment',
    from: 'md',
    cell: ({ sessionId }) => (
      <ScreenLink
        path={`payments/${sessionId}`}
        className="whitespace-nowrap text-accent underline-offset-2 hover:underline"
      >
        See the payment
      </ScreenLink>
    ),
  },
  { key: 'id', header: 'Id', isExtra: true, cell: ({ refundId }) => <Id id={refundId} /> },
  {
    key: 'created',
    header: 'Created',
    from: 'sm',
    isAtEnd: true,
    cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
  },
];

/** All refunds, newest first. */
export default function Refunds() {
  const pathOf = useScreenPath();
  const list = usePages(
    'GET /refund/list/:page/:size',
    (after) => ({
      params: { page: 1, size: pageSize },
      ...(after === undefined ? {} : { query: { after } }),
    }),
    ({ nextCursor, hasMore }) => (hasMore ? nextCursor : ''),
  );
  return (
    <>
      <PageHeader
        title="Refunds"
        description="Before the settlement Florin returns the money. Afterwards your wallet sends it."
      />
      <Table
        label="Refunds"
        columns={columns}
        choiceName="refunds"
        source={{
          rows: list.data?.pages.flatMap(({ refunds }) => refunds),
          error: list.error,
          onRetry: () => void list.refetch(),
        }}
        keyOf={({ refundId }) => refundId}
        hrefOf={({ refundId }) => pathOf(`refunds/${refundId}`)}
        empty={
          <Empty
            icon={<Undo2 />}
            title="No refunds yet"
            action={
              <ScreenLink path="payments" className={buttonClass('primary')}>
                Go to the payments
              </ScreenLink>
            }
          >
            A refund begins on the page of its payment.
          </Empty>
        }
        more={
          list.hasNextPage
            ? { onMore: () => void list.fetchNextPage(), isLoading: list.isFetchingNextPage }
            : undefined
        }
      />
    </>
  );
}
