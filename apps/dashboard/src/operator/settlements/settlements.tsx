import { Send } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../../api/use-call.ts';
import { useFilters } from '../../app/use-filters.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { PageHeader } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { toast } from '../../ui/toast.tsx';
import { Address, Id, Time, Usd } from '../../ui/value.tsx';
import { ActDialog } from '../act-dialog.tsx';
import { AsOf } from '../as-of.tsx';
import type { Health } from '../problem.ts';
import { RunbookLink } from '../runbook-link.tsx';
import { useHealth } from '../use-installation.ts';
import { TransactionTable } from './transactions.tsx';

type Leg = Health['settlements'][number];

const reasons: Readonly<Record<string, string>> = {
  not_mined: 'Its transaction gets into no block',
  reverted: 'It would revert',
  recipient_blocked: 'The token blocks the recipient',
  vault_short: 'The vault holds too little, or its caps are used up',
  token_paused: 'The token is paused, or the vault cannot be read',
  attestation_pending: 'Circle has not attested the burn',
  outflow_cap: 'Over a cap of the configuration',
  reorged: 'Its block is gone; it waits to be mined again',
};

/** Settlements that are delayed or held, and transactions that are in no final block. */
export default function Settlements() {
  const health = useHealth();
  const { values, set } = useFilters(['tab']);
  const tab = values.tab === 'transactions' ? 'transactions' : 'legs';
  const { data, error } = health;
  const source = { error, onRetry: () => void health.refetch() };
  return (
    <>
      <PageHeader
        title="Settlements"
        description="What is delayed or held, and what was sent and is not final. What runs as usual is not listed."
        actions={<AsOf source={health} />}
      />
      <Tabs
        label="Settlements"
        value={tab}
        onChange={(name) => set({ tab: name === 'legs' ? '' : name })}
        tabs={[
          { name: 'legs', label: 'Delayed or held', count: data?.settlements.length },
          { name: 'transactions', label: 'Sent transactions', count: data?.transactions.length },
        ]}
      >
        {tab === 'legs' ? (
          <LegTable legs={data?.settlements} health={data} source={source} />
        ) : (
          <TransactionTable health={data} source={source} />
        )}
      </Tabs>
    </>
  );
}

function LegTable({
  legs,
  health,
  source,
}: {
  readonly legs: readonly Leg[] | undefined;
  readonly health: Health | undefined;
  readonly source: { readonly error: unknown; readonly onRetry: () => void };
}) {
  const [released, setReleased] = useState<Leg>();
  const chainName = (chainId: number) =>
    health?.chains.find((chain) => chain.chainId === String(chainId))?.chain ?? String(chainId);
  const columns: readonly Column<Leg>[] = [
    {
      key: 'state',
      header: 'Status',
      cell: ({ nextAt }) =>
        nextAt === '' ? <Badge tone="bad">Held</Badge> : <Badge tone="warn">Delayed</Badge>,
    },
    {
      key: 'why',
      header: 'Why',
      isWide: true,
      cell: ({ reason, leg, chainId }) => (
        <>
          <span className="block truncate" title={reasons[reason] ?? reason}>
            {reasons[reason] ?? reason}
          </span>
          <span className="block truncate text-sm text-soft">
            {leg} on {chainName(chainId)}
          </span>
        </>
      ),
    },
    {
      key: 'value',
      header: 'For the merchant',
      isAtEnd: true,
      cell: ({ netValue }) => <Usd micro={netValue} />,
    },
    { key: 'session', header: 'Session', from: 'xl', cell: ({ sessionId }) => <Id id={sessionId} /> },
    { key: 'order', header: 'Order', from: 'lg', cell: ({ orderId }) => <Address address={orderId} /> },
    {
      key: 'since',
      header: 'Since',
      from: 'md',
      cell: ({ since }) => <Time time={since} className="text-soft" />,
    },
    {
      key: 'next',
      header: 'Next attempt',
      from: 'lg',
      cell: ({ nextAt, attempts }) => (
        <span className="text-soft">
          <Time time={nextAt} empty="waits for you" /> · {attempts} so far
        </span>
      ),
    },
    {
      key: 'act',
      header: '',
      isAtEnd: true,
      from: 'sm',
      cell: (leg) => (
        <span className="flex items-center justify-end gap-3">
          <RunbookLink name="settlements" />
          {leg.status === 'waiting' && (
            <Button size="small" onClick={() => setReleased(leg)}>
              Release… <span className="sr-only">{leg.orderId}</span>
            </Button>
          )}
        </span>
      ),
    },
  ];
  return (
    <>
      <Table
        label="Delayed and held settlements"
        columns={columns}
        source={{ rows: legs, ...source }}
        keyOf={({ orderId, leg }) => `${orderId}${leg}`}
        empty={
          <Empty icon={<Send />} title="Nothing is delayed">
            Every paid order settles on time.
          </Empty>
        }
      />
      {released !== undefined && <ReleaseDialog leg={released} onClose={() => setReleased(undefined)} />}
    </>
  );
}

function ReleaseDialog({ leg, onClose }: { readonly leg: Leg; readonly onClose: () => void }) {
  const release = useWrite('POST /staff/settlement/release', {
    onDone: ({ legs }) => {
      toast(legs.length === 0 ? 'Nothing of this order waits any more' : `Released: ${legs.join(', ')}`);
      onClose();
    },
  });
  return (
    <ActDialog
      onClose={onClose}
      title="Release this settlement?"
      act="Release"
      isDangerous
      write={release}
      onConfirm={(reason) => release.run({ body: { orderId: leg.orderId, reason } })}
    >
      <p>
        <Usd micro={leg.netValue} /> go out at once, also above the caps of the configuration. The caps of the
        contracts stay. The order is paid once, however often you release it.
      </p>
      <p>Look at the payment first.</p>
    </ActDialog>
  );
}
