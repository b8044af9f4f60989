import { ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Section } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table, type TableSource } from '../ui/table.tsx';
import { Address, Time } from '../ui/value.tsx';
import type { WalletChange } from './types.ts';
import { CancelChange } from './wallet-dialogs.tsx';

const columns: readonly Column<WalletChange>[] = [
  {
    key: 'what',
    header: 'What',
    isWide: true,
    cell: ({ kind, accountName, accountAddress }) => (
      <>
        <span className="block truncate font-medium">
          {kind === 'add' ? `New wallet ${accountName}` : `New address for ${accountName}`}
        </span>
        <Address address={accountAddress} />
      </>
    ),
  },
  {
    key: 'proof',
    header: 'Proof',
    from: 'md',
    cell: ({ isProven }) =>
      isProven ? <Badge tone="good">Proven</Badge> : <Badge tone="warn">Not proven</Badge>,
  },
  {
    key: 'asked',
    header: 'Asked for',
    from: 'lg',
    cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
  },
  { key: 'until', header: 'Takes effect', cell: ({ effectiveAt }) => <Time time={effectiveAt} /> },
];

/** Wallets and addresses that wait, each with the button that cancels it. */
export function WaitingChanges({
  source,
  mayChange,
}: {
  readonly source: TableSource<WalletChange>;
  readonly mayChange: boolean;
}) {
  const [cancelled, setCancelled] = useState<WalletChange>();
  const acts: Column<WalletChange> = {
    key: 'acts',
    header: '',
    isAtEnd: true,
    cell: (change) => (
      <Button kind="quiet" size="small" onClick={() => setCancelled(change)}>
        Cancel
      </Button>
    ),
  };
  return (
    <Section
      title="Waiting"
      description="A new wallet or address takes no money until its delay is over. So a thief who gets into an account cannot send your money elsewhere at once: you have the time to see it here and cancel it."
    >
      <Table
        label="Changes that wait"
        columns={mayChange ? [...columns, acts] : columns}
        source={{ ...source, rows: source.rows?.filter(({ status }) => status === 'waiting') }}
        keyOf={({ changeId }) => changeId}
        skeletonRows={1}
        empty={<Empty icon={<ShieldCheck />} title="Nothing waits" />}
      />
      <CancelChange change={cancelled} onClose={() => setCancelled(undefined)} />
    </Section>
  );
}
