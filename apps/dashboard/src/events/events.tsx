import { Radio, RotateCw } from 'lucide-react';
import type { ReplyTo } from '../api/call.ts';
import { usePages, useRead, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { useFilters } from '../app/use-filters.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import { DialogActions, Sheet } from '../ui/dialog.tsx';
import { eventGroups, eventTitle } from '../ui/event-types.ts';
import { BodyText } from '../ui/json.tsx';
import { FailureNotice } from '../ui/notice.tsx';
import { OddFilters } from '../ui/odd-filters.tsx';
import { Fact, Facts, PageHeader, SkeletonFacts } from '../ui/page.tsx';
import { SelectField } from '../ui/select.tsx';
import { Empty, Failed } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { Id, Time } from '../ui/value.tsx';

type Event = ReplyTo<'GET /event/list/:page/:size'>['events'][number];

const pageSize = 25;

/** The id of the object that an event is about: the first id in its data. */
function subjectOf(data: unknown): string {
  const objects = typeof data === 'object' && data !== null ? Object.values(data) : [];
  for (const object of objects) {
    if (typeof object !== 'object' || object === null) continue;
    const found = Object.entries(object).find(([name, value]) => name.endsWith('Id') && value !== '');
    if (found !== undefined) return String(found[1]);
  }
  return '';
}

const columns: readonly Column<Event>[] = [
  {
    key: 'type',
    header: 'Event',
    isWide: true,
    cell: ({ type, fixture }) => (
      <>
        <span className="block truncate font-mono text-sm font-medium">{type}</span>
        <span className="block truncate text-sm text-soft">
          {fixture === true ? 'An example: nothing happened' : eventTitle(type)}
        </span>
      </>
    ),
  },
  {
    key: 'subject',
    header: 'About',
    from: 'sm',
    cell: ({ data }) =>
      subjectOf(data) === '' ? <span className="text-faint">—</span> : <Id id={subjectOf(data)} />,
  },
  { key: 'id', header: 'Id', from: 'lg', cell: ({ id }) => <Id id={id} /> },
  {
    key: 'at',
    header: 'When',
    isAtEnd: true,
    cell: ({ timestamp }) => <Time time={timestamp} className="text-soft" />,
  },
];

const typeOptions = [
  { value: '', label: 'All types' },
  ...eventGroups.flatMap(({ pattern, title, types }) => [
    { value: pattern, label: `${title}: all` },
    ...types.map((type) => ({ value: type as string, label: type as string })),
  ]),
];

export default function Events() {
  const filters = useFilters(['type', 'event'], { type: typeOptions.map(({ value }) => value) });
  const { event: openId, type } = filters.values;
  const list = usePages(
    'GET /event/list/:page/:size',
    (page = '1') => ({
      params: { page: Number(page), size: pageSize },
      query: type === '' ? {} : { type },
    }),
    ({ page, hasMore }) => (hasMore ? String(page + 1) : ''),
  );
  // New events move the older ones to later pages, so an event can come twice.
  const loaded = list.data?.pages.flatMap(({ events }) => events);
  const rows = loaded && [...new Map(loaded.map((event) => [event.id, event])).values()];
  return (
    <>
      <PageHeader
        title="Events"
        description="What happened in this shop in the last 90 days. Webhooks send the same bodies."
      />
      <div className="mb-3 max-w-72">
        <SelectField
          label="Type"
          value={type}
          options={typeOptions}
          onChange={(chosen) => filters.set({ type: chosen })}
        />
      </div>
      <OddFilters of={filters} />
      <Table
        label="Events"
        columns={columns}
        source={{ rows, error: list.error, onRetry: () => void list.refetch() }}
        keyOf={({ id }) => id}
        onOpen={({ id }) => filters.set({ event: id })}
        onClearFilters={type === '' ? undefined : filters.clear}
        skeletonRows={10}
        more={
          list.hasNextPage
            ? { onMore: () => void list.fetchNextPage(), isLoading: list.isFetchingNextPage }
            : undefined
        }
        empty={
          <Empty
            icon={<Radio />}
            title="No events yet"
            action={
              <ScreenLink path="payments" className={buttonClass()}>
                Go to payments
              </ScreenLink>
            }
          >
            Each payment, refund and change of your shop appears here.
          </Empty>
        }
      />
      {openId !== '' && (
        <EventSheet
          eventId={openId}
          known={rows?.find(({ id }) => id === openId)}
          onClose={() => filters.set({ event: '' })}
        />
      )}
    </>
  );
}

function EventSheet({
  eventId,
  known,
  onClose,
}: {
  readonly eventId: string;
  /** The event when the list already has it. */
  readonly known: Event | undefined;
  readonly onClose: () => void;
}) {
  const read = useRead('GET /event/:eventId', { params: { eventId } }, { isOn: known === undefined });
  const event = known ?? read.data;
  return (
    <Sheet
      isOpen
      onClose={onClose}
      size="large"
      title={event?.type ?? 'Event'}
      description={event === undefined ? undefined : eventTitle(event.type)}
    >
      {event !== undefined && <EventDetail event={event} />}
      {event === undefined && read.error !== null && (
        <Failed error={read.error} onRetry={() => void read.refetch()} />
      )}
      {event === undefined && read.error === null && <SkeletonFacts />}
    </Sheet>
  );
}

function EventDetail({ event }: { readonly event: Event }) {
  const mayResend = mayDo(useMerchant().role, 'webhooks:write');
  const resend = useWrite('POST /webhook/delivery/resend/all', {
    onDone: ({ resent }) =>
      toast(
        resent === 0
          ? 'No webhook was sent this event'
          : `Sent again to ${resent === 1 ? 'one webhook' : `${resent} webhooks`}`,
      ),
  });
  return (
    <div className="grid gap-4">
      {event.fixture === true && (
        <div>
          <Badge tone="info">Example: nothing happened</Badge>
        </div>
      )}
      <Facts>
        <Fact name="Id">
          <Id id={event.id} isWhole />
        </Fact>
        <Fact name="When">
          <Time isWhole time={event.timestamp} />
        </Fact>
        <Fact name="Sequence">{event.sequence}</Fact>
        {subjectOf(event.data) !== '' && (
          <Fact name="About">
            <Id id={subjectOf(event.data)} isWhole />
          </Fact>
        )}
      </Facts>
      <BodyText label="Body" text={JSON.stringify(event)} />
      <FailureNotice error={resend.error} />
      {mayResend && (
        <DialogActions>
          <Button
            icon={<RotateCw />}
            isBusy={resend.isRunning}
            onClick={() => void resend.run({ body: { eventId: event.id } })}
          >
            Send to the webhooks again
          </Button>
        </DialogActions>
      )}
    </div>
  );
}
