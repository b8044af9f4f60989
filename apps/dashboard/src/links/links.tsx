import type { Link } from '@florin/protocol/link.ts';
import { Link2, Plus } from 'lucide-react';
import { lazy, type ReactNode, useState } from 'react';
import { usePages } from '../api/use-call.ts';
import { useSearchOn } from '../api/use-search-on.ts';
import { useTokenClosure, useTokenNames } from '../api/use-token-names.ts';
import { loadPatiently } from '../app/lazy-screen.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { useScreenPath } from '../app/screen-link.tsx';
import { useFilters } from '../app/use-filters.ts';
import { Button } from '../ui/button.tsx';
import { formatNumber } from '../ui/format.ts';
import { isolated } from '../ui/isolated.ts';
import { OddFilters } from '../ui/odd-filters.tsx';
import { PageHeader } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { CopyButton, Time, Usd } from '../ui/value.tsx';
import { WhenOpened } from '../ui/when-opened.tsx';
import { LinkBadge } from './link-badge.tsx';

const LinkSheet = lazy(loadPatiently(() => import('./link-sheet.tsx')));

const pageSize = 50;
const tabs = [
  { name: 'all', label: 'All' },
  { name: 'active', label: 'Active' },
  { name: 'disabled', label: 'Disabled' },
] as const;

/** All payment links. */
export default function Links() {
  const { role } = useMerchant();
  const [isCreating, setCreating] = useState(false);
  const createButton = mayDo(role, 'payment_links:write') && (
    <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
      Create a link
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Links"
        description="Pages on which your customers pay, without a shop of your own."
        actions={createButton}
      />
      <LinkList createButton={createButton} />
      <WhenOpened isOpen={isCreating}>
        <LinkSheet isOpen={isCreating} onClose={() => setCreating(false)} />
      </WhenOpened>
    </>
  );
}

const linkColumns = (
  nameOf: (tokenId: string) => string,
  closureOf: (tokenId: string) => string | undefined,
): readonly Column<Link>[] => [
  {
    key: 'name',
    header: 'Name',
    isWide: true,
    cell: (link) => (
      <>
        <span className="font-medium">{link.linkName}</span>
        <span className="block text-sm text-soft sm:hidden">
          <LinkAmount {...link} />
          {link.status === 'active' && closureOf(link.settlementToken) !== undefined && (
            <span className="text-bad"> · No payments now</span>
          )}
        </span>
      </>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    from: 'sm',
    cell: (link) => (
      <span className="whitespace-nowrap">
        <LinkBadge link={link} />
        {link.maxPayments !== undefined && (
          <span className="ml-2 text-sm text-soft">
            {formatNumber(link.paymentCount ?? 0)} of {formatNumber(link.maxPayments)}
          </span>
        )}
      </span>
    ),
  },
  {
    key: 'token',
    header: 'You receive',
    from: 'md',
    cell: ({ settlementToken }) => <span className="whitespace-nowrap">{nameOf(settlementToken)}</span>,
  },
  {
    key: 'created',
    header: 'Created',
    from: 'lg',
    cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
  },
  {
    key: 'amount',
    header: 'Amount',
    isAtEnd: true,
    from: 'sm',
    cell: (link) => <LinkAmount {...link} />,
  },
  {
    key: 'copy',
    header: '',
    label: 'Copy',
    isAtEnd: true,
    cell: ({ linkName, linkUrl }) => (
      <CopyButton text={linkUrl} label={`Copy the link of ${isolated(linkName)}`} />
    ),
  },
];

function LinkAmount({ linkType, amount }: Link) {
  if (linkType === 'custom') return <span className="whitespace-nowrap text-soft">Any amount</span>;
  return <Usd micro={amount} />;
}

function LinkList({ createButton }: { readonly createButton: ReactNode }) {
  const filters = useFilters(['status'], { status: tabs.map(({ name }) => name) });
  const pathOf = useScreenPath();
  const nameOf = useTokenNames();
  const closureOf = useTokenClosure();
  const shown = tabs.find(({ name }) => name === filters.values.status)?.name ?? 'all';
  const list = usePages(
    'GET /payment/link/list/:page/:size',
    (after) => ({ params: { page: 1, size: pageSize }, query: after === undefined ? {} : { after } }),
    ({ nextCursor, hasMore }) => (hasMore ? nextCursor : ''),
  );
  const rows = list.data?.pages
    .flatMap(({ links }) => links)
    .filter(({ status }) => shown === 'all' || status === shown);
  const isSearchingOn = useSearchOn(list, rows?.length === 0);
  return (
    <>
      <OddFilters of={filters} />
      <Tabs
        label="Links by state"
        tabs={tabs}
        value={shown}
        onChange={(name) => filters.set({ status: name === 'all' ? '' : name })}
      >
        <Table
          label="Links"
          columns={linkColumns(nameOf, closureOf)}
          choiceName="links"
          source={{
            rows: isSearchingOn ? undefined : rows,
            error: list.error,
            onRetry: () => void list.refetch(),
          }}
          keyOf={({ linkId }) => linkId}
          hrefOf={({ linkId }) => pathOf(`links/${linkId}`)}
          more={
            list.hasNextPage
              ? { onMore: () => void list.fetchNextPage(), isLoading: list.isFetchingNextPage }
              : undefined
          }
          onClearFilters={shown === 'all' ? undefined : filters.clear}
          empty={
            <Empty icon={<Link2 />} title="No links yet" action={createButton}>
              Send a link, print its QR code, or put it on your site. It takes payments until you disable it.
            </Empty>
          }
        />
      </Tabs>
    </>
  );
}
