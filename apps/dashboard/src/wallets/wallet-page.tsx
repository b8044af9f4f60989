import { useParams } from '@tanstack/react-router';
import { MapPin, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { useGoTo } from '../app/screen-link.tsx';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import { Card, Fact, Facts, PageHeader, Section, Skeleton } from '../ui/page.tsx';
import { Empty, Failed } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Address, Id, Time } from '../ui/value.tsx';
import type { SettlementToken, WalletAccount, WalletChange } from './types.ts';
import { WalletBadge } from './wallet-badge.tsx';
import { CancelChange, EditWalletSheet, MoveWalletSheet, RemoveWallet } from './wallet-dialogs.tsx';
import { isProvenWallet, modeTitles, tokenNames } from './wallet-words.ts';

/** One wallet: its terms, what waits for it, and the addresses that it had. */
export default function WalletPage() {
  const { accountId = '' } = useParams({ strict: false }) as { accountId?: string };
  const read = useRead('GET /account/detail/:accountId', { params: { accountId } });
  const changes = useRead('GET /account/change/list', {});
  const tokens = useRead('GET /token/list', {});
  if (read.data === undefined) {
    if (read.error !== null) return <Failed error={read.error} onRetry={() => void read.refetch()} />;
    return (
      <>
        <PageHeader title="Wallet" />
        <Skeleton className="h-72" />
      </>
    );
  }
  const own = changes.data?.changes.filter((change) => change.accountId === accountId);
  return (
    <>
      <Head account={read.data} changes={own ?? []} />
      <Card>
        <Terms account={read.data} changes={own ?? []} tokens={tokens.data?.tokens ?? []} />
      </Card>
      <Section
        title="Addresses"
        description="Each address is a version of the wallet. A payment keeps the one with which it began."
      >
        <Table
          label="Addresses"
          columns={changeColumns}
          source={{ rows: own, error: changes.error, onRetry: () => void changes.refetch() }}
          keyOf={({ changeId }) => changeId}
          skeletonRows={1}
          empty={
            <Empty icon={<MapPin />} title="No changes of the address">
              The list begins with wallets that are added or moved here.
            </Empty>
          }
        />
      </Section>
    </>
  );
}

type Act = 'edit' | 'move' | 'remove';

function Head({
  account,
  changes,
}: {
  readonly account: WalletAccount;
  readonly changes: readonly WalletChange[];
}) {
  const { role } = useMerchant();
  const goTo = useGoTo();
  const [act, setAct] = useState<Act>();
  const [cancelled, setCancelled] = useState<WalletChange>();
  const mayChange = mayDo(role, 'accounts:write');
  const waiting = changes.find(({ status }) => status === 'waiting');
  const sheet = (name: Act) => ({ account, isOpen: act === name, onClose: () => setAct(undefined) });
  return (
    <>
      <PageHeader
        title={account.accountName}
        badge={<WalletBadge account={account} changes={changes} />}
        description={<Id id={account.accountId} isWhole />}
        actions={
          mayChange && (
            <>
              <Button icon={<Pencil />} onClick={() => setAct('edit')}>
                Change
              </Button>
              {waiting === undefined && (
                <Button icon={<MapPin />} onClick={() => setAct('move')}>
                  New address
                </Button>
              )}
              <Button kind="quiet" icon={<Trash2 />} onClick={() => setAct('remove')}>
                Remove
              </Button>
            </>
          )
        }
      />
      {waiting !== undefined && (
        <div className="mb-6">
          <Notice
            tone="warn"
            title="A new address waits"
            action={
              mayChange && (
                <Button size="small" onClick={() => setCancelled(waiting)}>
                  Cancel it
                </Button>
              )
            }
          >
            <Address address={waiting.accountAddress} /> takes effect{' '}
            <Time time={waiting.effectiveAt} className="font-medium text-ink" />. If no one in your team asked
            for it, cancel it: the delay is there to stop a thief.
          </Notice>
        </div>
      )}
      <EditWalletSheet {...sheet('edit')} />
      <MoveWalletSheet {...sheet('move')} />
      <RemoveWallet {...sheet('remove')} onRemoved={() => goTo('wallets')} />
      <CancelChange change={cancelled} onClose={() => setCancelled(undefined)} />
    </>
  );
}

const proofTexts = { true: 'The wallet signed that it is yours', false: 'Not proven' } as const;

function Terms({
  account,
  changes,
  tokens,
}: {
  readonly account: WalletAccount;
  readonly changes: readonly WalletChange[];
  readonly tokens: readonly SettlementToken[];
}) {
  const isProven = isProvenWallet(account, changes);
  return (
    <Facts>
      <Fact name="Address">
        <Address address={account.accountAddress} isWhole />
      </Fact>
      <Fact name="Proof of control">
        {isProven === undefined ? 'Not known here' : proofTexts[`${isProven}`]}
      </Fact>
      <Fact name="Tokens">
        <ul>
          {tokenNames(account.settlementCurrencies, tokens).map((name) => (
            <li key={name}>{name}</li>
          ))}
        </ul>
      </Fact>
      <Fact name="Payments arrive">{modeTitles[account.settlementMode]}</Fact>
      <Fact name="Version">
        <Id id={account.version} />
      </Fact>
      <Fact name="Added">
        <Time time={account.createAt} />
      </Fact>
      <Fact name="Changed">
        <Time time={account.updateAt} />
      </Fact>
    </Facts>
  );
}

const statuses: Readonly<Record<WalletChange['status'], { readonly tone: Tone; readonly text: string }>> = {
  waiting: { tone: 'warn', text: 'Waits' },
  done: { tone: 'good', text: 'Took effect' },
  cancelled: { tone: 'neutral', text: 'Cancelled' },
  refused: { tone: 'bad', text: 'Refused' },
};

const changeColumns: readonly Column<WalletChange>[] = [
  {
    key: 'address',
    header: 'Address',
    isWide: true,
    cell: ({ accountAddress }) => <Address address={accountAddress} />,
  },
  {
    key: 'status',
    header: 'Status',
    cell: ({ status }) => <Badge tone={statuses[status].tone}>{statuses[status].text}</Badge>,
  },
  { key: 'proof', header: 'Proof', from: 'sm', cell: ({ isProven }) => (isProven ? 'Proven' : 'Not proven') },
  { key: 'from', header: 'From', isAtEnd: true, cell: ({ effectiveAt }) => <Time time={effectiveAt} /> },
];
