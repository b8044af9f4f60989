import { useState } from 'react';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { isolated } from '../ui/isolated.ts';
import { type Column, Table, type TableProps } from '../ui/table.tsx';
import { Address, Time } from '../ui/value.tsx';
import type { WalletChange } from './types.ts';
import { CancelChange } from './wallet-dialogs.tsx';
import { exactMinute } from './wallet-words.ts';

const statuses: Readonly<Record<WalletChange['status'], { readonly tone: Tone; readonly text: string }>> = {
  waiting: { tone: 'warn', text: 'Waits' },
  done: { tone: 'good', text: 'Took effect' },
  cancelled: { tone: 'neutral', text: 'Cancelled' },
  refused: { tone: 'bad', text: 'Refused' },
};

const proofText = ({ isProven }: WalletChange) => (isProven ? 'Proven' : 'Not proven');

function ChangeStatus({ status, effectiveAt }: WalletChange) {
  return (
    <>
      <Badge tone={statuses[status].tone}>{statuses[status].text}</Badge>
      {status === 'waiting' && (
        <span className="block text-sm text-soft sm:whitespace-nowrap" title={exactMinute(effectiveAt)}>
          Takes effect <Time time={effectiveAt} />
        </span>
      )}
      {status === 'refused' && (
        <span className="block text-sm text-soft">Its address or a token was taken out of use.</span>
      )}
    </>
  );
}

const columns: readonly Column<WalletChange>[] = [
  {
    key: 'what',
    header: 'Change',
    isWide: true,
    cell: (change) => {
      const { kind, accountName, accountAddress, requestedBy } = change;
      return (
        <>
          <span className="block font-medium wrap-anywhere whitespace-normal">
            {kind === 'add'
              ? `New wallet ${isolated(accountName)}`
              : `New address for ${isolated(accountName)}`}
          </span>
          <Address address={accountAddress} />
          {/* A phone has room for one column and the button that cancels. */}
          <div className="whitespace-normal sm:hidden">
            <ChangeStatus {...change} />
          </div>
          <span className="block text-sm wrap-anywhere whitespace-normal text-soft lg:hidden">
            {proofText(change)}
            {requestedBy !== '' && <span className="md:hidden">, asked for by {requestedBy}</span>}
          </span>
        </>
      );
    },
  },
  { key: 'status', header: 'Status', from: 'sm', cell: (change) => <ChangeStatus {...change} /> },
  {
    key: 'proof',
    header: 'Proof',
    from: 'lg',
    cell: (change) => <span className="whitespace-nowrap text-soft">{proofText(change)}</span>,
  },
  {
    key: 'asked',
    header: 'Asked for',
    from: 'md',
    cell: ({ createAt, requestedBy }) => (
      <span className="text-soft">
        <Time time={createAt} />
        {requestedBy !== '' && <span className="block max-w-52 truncate text-sm">by {requestedBy}</span>}
      </span>
    ),
  },
];

/** Rows that are shown before more are asked for; those that wait are always shown. */
const firstRows = 5;

/** Changes of wallets, those that wait first, each with the button that cancels it. */
export function ChangesTable({ source, empty }: Pick<TableProps<WalletChange>, 'source' | 'empty'>) {
  const { role } = useMerchant();
  const [cancelled, setCancelled] = useState<WalletChange>();
  const [isWhole, setWhole] = useState(false);
  const waiting = source.rows?.filter(({ status }) => status === 'waiting') ?? [];
  const others = source.rows?.filter(({ status }) => status !== 'waiting') ?? [];
  const shown = isWhole ? others : others.slice(0, firstRows);
  const acts: Column<WalletChange> = {
    key: 'acts',
    header: '',
    isAtEnd: true,
    cell: (change) =>
      change.status === 'waiting' && (
        <Button kind="quiet" size="small" onClick={() => setCancelled(change)}>
          Cancel
        </Button>
      ),
  };
  const hasActs = waiting.length > 0 && mayDo(role, 'accounts:write');
  return (
    <>
      <Table
        label="Changes"
        columns={hasActs ? [...columns, acts] : columns}
        source={{ ...source, rows: source.rows && [...waiting, ...shown] }}
        keyOf={({ changeId }) => changeId}
        skeletonRows={1}
        empty={empty}
        more={shown.length < others.length ? { onMore: () => setWhole(true), isLoading: false } : undefined}
      />
      {cancelled !== undefined && <CancelChange change={cancelled} onClose={() => setCancelled(undefined)} />}
    </>
  );
}
