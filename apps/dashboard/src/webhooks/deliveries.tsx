import { Send } from 'lucide-react';
import { useState } from 'react';
import { usePages } from '../api/use-call.ts';
import { eventTitle } from '../ui/event-types.ts';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/value.tsx';
import type { Hook, Sent } from './types.ts';
import { answerText, DeliveryBadge } from './webhook-words.tsx';

const pageSize = 25;
const followMs = 5_000;

const columnsFor = (isHeld: boolean): readonly Column<Sent>[] => [
  {
    key: 'event',
    header: 'Event',
    isWide: true,
    cell: ({ eventType }) => (
      <>
        <span className="block truncate font-mono text-sm font-medium">{eventType}</span>
        <span className="block truncate text-sm text-soft">{eventTitle(eventType)}</span>
      </>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    cell: ({ status, nextAttemptAt, attempts, createAt }) => (
      <>
        <DeliveryBadge {...{ status, nextAttemptAt, attempts, isHeld }} />
        <Time time={createAt} className="block text-sm text-soft sm:hidden" />
      </>
    ),
  },
  {
    key: 'answer',
    header: 'Last answer',
    from: 'md',
    cell: ({ attempts }) => {
      const last = attempts.at(-1);
      if (last === undefined) return <span className="text-faint">—</span>;
      return <span className="block max-w-48 truncate">{answerText(last)}</span>;
    },
  },
  {
    key: 'attempts',
    header: 'Attempts',
    from: 'lg',
    isAtEnd: true,
    cell: ({ attempts }) => <span className="tabular-nums">{attempts.at(-1)?.attempt ?? 0}</span>,
  },
  {
    key: 'at',
    header: 'Created',
    isAtEnd: true,
    from: 'sm',
    cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
  },
];

/** What was sent to a webhook, newest first. It follows deliveries that are under way. */
export function Deliveries({
  hook: { webhookId, status: hookStatus },
  onOpen,
}: {
  readonly hook: Hook;
  readonly onOpen: (deliveryId: string) => void;
}) {
  const [isMoving, setMoving] = useState(false);
  const list = usePages(
    'GET /webhook/delivery/list/:webhookId/:page/:size',
    (after) => ({
      params: { webhookId, page: 1, size: pageSize },
      query: after === undefined ? {} : { after },
    }),
    ({ nextCursor, hasMore }) => (hasMore ? nextCursor : ''),
    isMoving ? { everyMs: followMs } : {},
  );
  const rows = list.data?.pages.flatMap(({ deliveries }) => deliveries);
  const isPending = rows?.some(({ status }) => status === 'pending') ?? false;
  if (isPending !== isMoving) setMoving(isPending);
  return (
    <Table
      label="Deliveries"
      choiceName="deliveries"
      columns={columnsFor(hookStatus !== 'active')}
      source={{ rows, error: list.error, onRetry: () => void list.refetch() }}
      keyOf={({ deliveryId }) => deliveryId}
      onOpen={({ deliveryId }) => onOpen(deliveryId)}
      more={
        list.hasNextPage
          ? { onMore: () => void list.fetchNextPage(), isLoading: list.isFetchingNextPage }
          : undefined
      }
      empty={
        <Empty icon={<Send />} title="No deliveries yet">
          Send a test, or wait for the next event.
        </Empty>
      }
    />
  );
}
