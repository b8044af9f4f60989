import { Send } from 'lucide-react';
import { Fragment, useState } from 'react';
import { usePages } from '../api/use-call.ts';
import { useSearchOn } from '../api/use-search-on.ts';
import { Button } from '../ui/button.tsx';
import { allEventTypes, eventTitle } from '../ui/event-types.ts';
import { formatNumber } from '../ui/format.ts';
import { SelectField } from '../ui/select.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/value.tsx';
import { deliveryStates, isSought } from './delivery-filter.ts';
import type { Hook, Sent } from './types.ts';
import { answerText, DeliveryBadge } from './webhook-words.tsx';

const pageSize = 25;
const followMs = 5_000;
const followedPages = 2;
/** With a filter: the deliveries of one read, and how many reads look for enough rows before the reader is asked. */
const searchedSize = 100;
const searchedPages = 10;

const columnsFor = (isHeld: boolean): readonly Column<Sent>[] => [
  {
    key: 'event',
    header: 'Event',
    isWide: true,
    cell: ({ eventType }) => (
      <>
        <span className="block font-mono text-sm font-medium wrap-anywhere">
          {eventType.split(/(?<=[._])/).map((part) => (
            <Fragment key={part}>
              {part}
              <wbr />
            </Fragment>
          ))}
        </span>
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

interface DeliveryFilters {
  readonly state: string;
  readonly type: string;
}

export const deliveryTypes = [
  { value: '', label: 'All types' },
  ...allEventTypes.map((type) => ({
    value: type,
    label: type,
  })),
];

/** What was sent to a webhook, newest first. It follows deliveries that are under way. */
export function Deliveries({
  hook,
  filters,
  onFilter,
  onOpen,
}: {
  readonly hook: Hook;
  readonly filters: DeliveryFilters;
  readonly onFilter: (changed: Partial<DeliveryFilters>) => void;
  readonly onOpen: (deliveryId: string) => void;
}) {
  const { rows, read, list, isSearching, onMore } = useDeliveries(hook, filters);
  const isFiltered = filters.state !== '' || filters.type !== '';
  const isLoading = isSearching || list.isFetchingNextPage;
  return (
    <>
      <div className="mb-3 grid gap-2 min-[430px]:grid-cols-2">
        <SelectField
          label={<span className="sr-only">State</span>}
          value={filters.state}
          onChange={(state) => onFilter({ state })}
          options={deliveryStates}
        />
        <SelectField
          label={<span className="sr-only">Type</span>}
          value={filters.type}
          onChange={(type) => onFilter({ type })}
          options={deliveryTypes}
        />
      </div>
      <Table
        label="Deliveries"
        choiceName="deliveries"
        columns={columnsFor(hook.status !== 'active')}
        source={{
          // Nothing is found until the search has ended.
          rows: rows?.length === 0 && isLoading ? undefined : rows,
          error: list.error,
          onRetry: () => void list.refetch(),
        }}
        keyOf={({ deliveryId }) => deliveryId}
        onOpen={({ deliveryId }) => onOpen(deliveryId)}
        onClearFilters={isFiltered && !list.hasNextPage ? () => onFilter({ state: '', type: '' }) : undefined}
        more={list.hasNextPage ? { onMore, isLoading } : undefined}
        empty={
          isFiltered ? (
            <Empty
              icon={<Send />}
              title={`None among the latest ${formatNumber(read)}`}
              action={<Button onClick={onMore}>Look further back</Button>}
            />
          ) : (
            <Empty icon={<Send />} title="No deliveries yet">
              Send a test, or wait for the next event.
            </Empty>
          )
        }
      />
    </>
  );
}

/** The deliveries that the filters leave. The service has no such filters, so that they are looked for here. */
function useDeliveries({ webhookId }: Hook, filters: DeliveryFilters) {
  const isFiltered = filters.state !== '' || filters.type !== '';
  const size = isFiltered ? searchedSize : pageSize;
  const [isMoving, setMoving] = useState(false);
  const [wanted, setWanted] = useState(1);
  const list = usePages(
    'GET /webhook/delivery/list/:webhookId/:page/:size',
    (after) => ({
      params: { webhookId, page: 1, size },
      query: after === undefined ? {} : { after },
    }),
    ({ nextCursor, hasMore }) => (hasMore ? nextCursor : ''),
    isMoving ? { everyMs: followMs } : {},
  );
  const pages = list.data?.pages ?? [];
  const all = pages.flatMap(({ deliveries }) => deliveries);
  const rows = list.data && all.filter((sent) => isSought(sent, filters));
  // Many pages are not read again and again.
  const isToFollow = pages.length <= followedPages && all.some(({ status }) => status === 'pending');
  if (isToFollow !== isMoving) setMoving(isToFollow);
  const isShort = (rows?.length ?? 0) < wanted * pageSize && pages.length < wanted * searchedPages;
  const isSearching = useSearchOn(list, isFiltered && isShort && !list.isError);
  const onMore = () => {
    setWanted(wanted + 1);
    void list.fetchNextPage();
  };
  return { rows, read: all.length, list, isSearching, onMore };
}
