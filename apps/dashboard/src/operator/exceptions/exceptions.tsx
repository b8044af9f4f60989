import { Link } from '@tanstack/react-router';
import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { ReplyTo } from '../../api/call.ts';
import { useRead } from '../../api/use-call.ts';
import { useFilters } from '../../app/use-filters.ts';
import { Badge } from '../../ui/badge.tsx';
import { OddFilters } from '../../ui/odd-filters.tsx';
import { PageHeader } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Id, Time, Tokens } from '../../ui/value.tsx';
import { AsOf } from '../as-of.tsx';
import { chainOf, symbolOf } from '../figure.ts';
import { Pager } from '../pager.tsx';
import { TroubleBadge } from '../trouble-sign.tsx';
import { useMerchantNames, useTokens } from '../use-installation.ts';

type Exception = ReplyTo<'GET /staff/exception/list/:page/:size'>['exceptions'][number];

const size = 50;
const refreshMs = 10_000;

const kinds: Readonly<Record<Exception['kind'], string>> = {
  duplicate: 'Paid twice',
  duplicate_settled: 'Paid and settled twice',
  refunded: 'Given back by the merchant',
  reclaimed: 'Back with the payer, not settled in time',
  unsettled: 'Not settled yet',
  underpaid: 'Too little',
  overpaid: 'Too much',
  late: 'Late',
  wrong_token: 'Another token',
};

/** Exceptions over all merchants, the newest first. */
export default function AllExceptions() {
  const filters = useFilters(['status'], { status: ['open', 'all'] });
  const { set } = filters;
  const status = filters.values.status === 'all' ? 'all' : 'open';
  const [page, setPage] = useState(1);
  const list = useRead(
    'GET /staff/exception/list/:page/:size',
    { params: { page, size }, query: status === 'open' ? { status } : {} },
    { everyMs: refreshMs },
  );
  const tokens = useTokens();
  const names = useMerchantNames();
  const decimalsOf = (tokenId: string) =>
    tokens.data?.tokens.find((token) => token.tokenId === tokenId)?.decimals;
  return (
    <>
      <PageHeader
        title="Exceptions"
        description="Payments of all merchants that came short, over, late, twice or in another token. The merchants decide about them."
        actions={<AsOf source={list} />}
      />
      <OddFilters of={filters} />
      <Tabs
        label="Exceptions"
        value={status}
        onChange={(name) => {
          setPage(1);
          set({ status: name === 'open' ? '' : name });
        }}
        tabs={[
          { name: 'open', label: 'Open' },
          { name: 'all', label: 'All' },
        ]}
      >
        <Table
          label="Exceptions"
          columns={columnsOf(names, decimalsOf)}
          source={{ rows: list.data?.exceptions, error: list.error, onRetry: () => void list.refetch() }}
          keyOf={({ exceptionId }) => exceptionId}
          empty={
            <Empty icon={<TriangleAlert />} title={page > 1 ? 'No more exceptions' : 'No exceptions'}>
              {status === 'open' ? 'Every wrong payment was dealt with.' : 'No payment went wrong so far.'}
            </Empty>
          }
        />
        <Pager page={page} hasMore={list.data?.hasMore === true} onChange={setPage} />
      </Tabs>
    </>
  );
}

function columnsOf(
  names: ReadonlyMap<string, string>,
  decimalsOf: (tokenId: string) => number | undefined,
): readonly Column<Exception>[] {
  return [
    {
      key: 'kind',
      header: 'What',
      cell: ({ kind, merchantId }) => (
        <>
          <span className="block font-medium sm:whitespace-nowrap">{kinds[kind]}</span>
          <span className="block max-w-40 truncate text-sm text-soft sm:hidden">
            {names.get(merchantId) ?? merchantId}
          </span>
        </>
      ),
    },
    {
      key: 'merchant',
      header: 'Merchant',
      from: 'sm',
      isWide: true,
      cell: ({ merchantId }) => (
        <Link to={`/${merchantId}`} className="text-accent underline-offset-2 hover:underline">
          {names.get(merchantId) ?? merchantId}
        </Link>
      ),
    },
    {
      key: 'amount',
      header: 'Amount',
      isAtEnd: true,
      cell: ({ tokenId, amountInToken }) => {
        const decimals = decimalsOf(tokenId);
        return (
          <span title={chainOf(tokenId)}>
            {decimals === undefined ? (
              `${amountInToken} units`
            ) : (
              <Tokens units={amountInToken} decimals={decimals} symbol={symbolOf(tokenId)} />
            )}
          </span>
        );
      },
    },
    {
      key: 'status',
      header: 'Status',
      cell: ({ status }) =>
        status === 'open' ? (
          <TroubleBadge trouble="exceptionOpen">Open</TroubleBadge>
        ) : (
          <Badge tone="good">Resolved</Badge>
        ),
    },
    { key: 'session', header: 'Session', from: 'xl', cell: ({ sessionId }) => <Id id={sessionId} /> },
    {
      key: 'decide',
      header: 'Decide by',
      from: 'lg',
      cell: ({ decideBy }) => <Time time={decideBy} className="text-soft" />,
    },
    {
      key: 'at',
      header: 'Since',
      from: 'md',
      isAtEnd: true,
      cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
    },
  ];
}
