import { Send } from 'lucide-react';
import { useState } from 'react';
import { useFilters } from '../../app/use-filters.ts';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Address, Time, Usd } from '../../ui/value.tsx';
import { AsOf } from '../as-of.tsx';
import type { Health } from '../problem.ts';
import { runbookOfReason } from '../runbook.ts';
import { TroubleBadge } from '../trouble-sign.tsx';
import { useHealth, useMerchantNames } from '../use-installation.ts';
import { LegQueue, PaymentLink } from './leg-queue.tsx';
import { ReleaseDialog } from './release-dialog.tsx';
import { TransactionTable } from './transactions.tsx';
import { purposeText, reasonText } from './work.ts';

type DelayedLeg = Health['settlements'][number];

const tabs = ['delayed', 'legs', 'transactions'] as const;

/** Settlements that are delayed or held, all settlement legs, and the transactions of the service's wallets. */
export default function Settlements() {
  const health = useHealth();
  const { values, set } = useFilters(['tab']);
  const tab = tabs.find((name) => name === values.tab) ?? 'delayed';
  const { data, error } = health;
  const source = { error, onRetry: () => void health.refetch() };
  return (
    <>
      <PageHeader
        title="Settlements"
        description="What the service has to send for paid orders, and what its wallets sent."
        actions={<AsOf source={health} />}
      />
      <Tabs
        label="Settlements"
        value={tab}
        onChange={(name) => set({ tab: name === 'delayed' ? '' : name })}
        tabs={[
          { name: 'delayed', label: 'Delayed or held', count: data?.settlements.length },
          { name: 'legs', label: 'All legs' },
          { name: 'transactions', label: 'Transactions' },
        ]}
      >
        {tab === 'delayed' && <DelayedTable legs={data?.settlements} health={data} source={source} />}
        {tab === 'legs' && <LegQueue />}
        {tab === 'transactions' && <TransactionTable />}
      </Tabs>
    </>
  );
}

/** Whose money it is, and the page of its payment. */
function PaymentOf({
  leg,
  names,
}: {
  readonly leg: DelayedLeg;
  readonly names: ReadonlyMap<string, string>;
}) {
  return (
    <>
      <span className="block max-w-40 truncate text-sm text-soft">
        <bdi>{names.get(leg.merchantId) ?? leg.merchantId}</bdi>
      </span>
      <PaymentLink leg={leg} />
    </>
  );
}

function DelayedTable({
  legs,
  health,
  source,
}: {
  readonly legs: readonly DelayedLeg[] | undefined;
  readonly health: Health | undefined;
  readonly source: { readonly error: unknown; readonly onRetry: () => void };
}) {
  const [released, setReleased] = useState<DelayedLeg>();
  const names = useMerchantNames();
  const chainName = (chainId: number) =>
    health?.chains.find((chain) => chain.chainId === String(chainId))?.chain ?? String(chainId);
  const releaseButton = (leg: DelayedLeg) =>
    leg.status === 'waiting' && (
      <Button size="small" onClick={() => setReleased(leg)}>
        Release… <span className="sr-only">{leg.orderId}</span>
      </Button>
    );
  const columns: readonly Column<DelayedLeg>[] = [
    {
      key: 'state',
      header: 'Status',
      cell: ({ nextAt, reason }) => {
        const runbook = runbookOfReason(reason);
        if (nextAt === '')
          return (
            <TroubleBadge trouble="settlementHeld" runbook={runbook}>
              Held
            </TroubleBadge>
          );
        return (
          <TroubleBadge trouble="settlementDelayed" runbook={runbook}>
            Delayed
          </TroubleBadge>
        );
      },
    },
    {
      key: 'why',
      header: 'Why',
      isWide: true,
      cell: (row) => (
        <>
          <span className="block whitespace-normal">{reasonText(row.reason)}</span>
          <span className="block text-sm whitespace-normal text-soft">
            {purposeText(row.leg)} on {chainName(row.chainId)}
            <span className="sm:hidden">
              {' · '}
              <Usd micro={row.netValue} />
            </span>
          </span>
          <span className="mt-1 block md:hidden">
            <PaymentOf leg={row} names={names} />
          </span>
          <span className="mt-2 block sm:hidden">{releaseButton(row)}</span>
        </>
      ),
    },
    {
      key: 'value',
      header: 'For the merchant',
      from: 'sm',
      isAtEnd: true,
      cell: ({ netValue }) => <Usd micro={netValue} />,
    },
    {
      key: 'payment',
      header: 'Payment',
      from: 'md',
      cell: (leg) => <PaymentOf leg={leg} names={names} />,
    },
    { key: 'order', header: 'Order', isExtra: true, cell: ({ orderId }) => <Address address={orderId} /> },
    {
      key: 'since',
      header: 'Since',
      from: 'xl',
      cell: ({ since }) => <Time time={since} className="text-soft" />,
    },
    {
      key: 'next',
      header: 'Next attempt',
      from: 'lg',
      cell: ({ status, nextAt, attempts }) => (
        <span className="text-soft">
          {status === 'sent' ? 'is sent' : <Time time={nextAt} empty="waits for you" />}
          <span className="block text-sm">{attempts} so far</span>
        </span>
      ),
    },
    {
      key: 'act',
      header: '',
      isAtEnd: true,
      from: 'sm',
      cell: releaseButton,
    },
  ];
  return (
    <>
      <Table
        label="Delayed and held settlements"
        columns={columns}
        choiceName="operator-delayed"
        source={{ rows: legs, ...source }}
        keyOf={({ orderId, leg }) => `${orderId}${leg}`}
        empty={
          <Empty icon={<Send />} title="Nothing is delayed">
            Every paid order settles on time.
          </Empty>
        }
      />
      {released !== undefined && (
        <ReleaseDialog
          orderId={released.orderId}
          value={released.netValue}
          onClose={() => setReleased(undefined)}
        />
      )}
    </>
  );
}
