import type { SessionStatus } from '@florin/protocol/session.ts';
import { MapPin, Pencil, Trash2 } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import type { ApiFailure } from '../api/failure.ts';
import { useRead } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { ScreenLink, useGoTo } from '../app/screen-link.tsx';
import { useParam } from '../app/use-param.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { formatNumber } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { Card, Fact, Facts, PageHeader, Section, SkeletonPage } from '../ui/page.tsx';
import { sessionStatusText } from '../ui/session-status.tsx';
import { EmptyLine, Failed } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Address, Id, Time, Usd } from '../ui/value.tsx';
import { ChangesTable } from './changes-table.tsx';
import type { MoneyOnItsWay, SettlementToken, WalletAccount, WalletChange } from './types.ts';
import { WalletBadge } from './wallet-badge.tsx';
import { CancelChange, EditWalletSheet, MoveWalletSheet, RemoveWallet } from './wallet-dialogs.tsx';
import {
  exactMinute,
  type HeldAddress,
  heldAddresses,
  isProvenWallet,
  modeTitle,
  rereadMs,
  tokenNames,
} from './wallet-words.ts';

/** One wallet: its terms, what is on its way to it, what waits for it, and the addresses that it had. */
export default function WalletPage() {
  const accountId = useParam('accountId');
  const read = useRead('GET /account/detail/:accountId', { params: { accountId } }, { everyMs: rereadMs });
  const changes = useRead('GET /account/change/list', {}, { everyMs: rereadMs });
  const tokens = useRead('GET /token/list', {});
  if (read.data === undefined) {
    if ((read.error as ApiFailure | null)?.slug === 'account_removed')
      return <RemovedWallet accountId={accountId} />;
    if (read.error !== null) return <Failed error={read.error} onRetry={() => void read.refetch()} />;
    return (
      <>
        <PageHeader title="Wallet" description={<Id id={accountId} isWhole />} />
        <SkeletonPage />
      </>
    );
  }
  const own = changes.data?.changes.filter((change) => change.accountId === accountId);
  const parts = { account: read.data, changes: own ?? [], tokens: tokens.data?.tokens ?? [] };
  return (
    <>
      <Head {...parts} isRemoved={(read.error as ApiFailure | null)?.slug === 'account_removed'} />
      <Card>
        <Terms {...parts} />
      </Card>
      <OnItsWay {...parts} />
      <Section
        title="Addresses"
        description="Each address is a version of the wallet. A payment keeps the one with which it began."
      >
        <Table
          label="Addresses"
          columns={heldColumns}
          source={{
            rows: changes.data && heldAddresses(read.data, changes.data.changes),
            error: changes.error,
            onRetry: () => void changes.refetch(),
          }}
          keyOf={({ address, to }) => `${address} ${to}`}
          skeletonRows={1}
          empty={null}
        />
      </Section>
      <Changes source={{ rows: own, error: changes.error, onRetry: () => void changes.refetch() }} />
    </>
  );
}

/** What stays of a wallet that was removed before the page was opened. */
function RemovedWallet({ accountId }: { readonly accountId: string }) {
  const changes = useRead('GET /account/change/list', {});
  const own = changes.data?.changes.filter((change) => change.accountId === accountId);
  return (
    <>
      <PageHeader
        title={own?.[0]?.accountName ?? 'Wallet'}
        badge={<Badge>Removed</Badge>}
        description={<Id id={accountId} isWhole />}
      />
      <Notice title="This wallet was removed">
        It takes no new payments. What it received stays in Payments and in Reports, and what is on its way to
        it still arrives.
      </Notice>
      <Changes source={{ rows: own, error: changes.error, onRetry: () => void changes.refetch() }} />
    </>
  );
}

function Changes({ source }: Pick<ComponentProps<typeof ChangesTable>, 'source'>) {
  return (
    <Section title="Changes" description="Addresses that were asked for, and what became of them.">
      <ChangesTable
        source={source}
        empty={
          <EmptyLine>
            No changes so far. The list begins with wallets that are added or moved in the dashboard.
          </EmptyLine>
        }
      />
    </Section>
  );
}

const heldColumns: readonly Column<HeldAddress>[] = [
  {
    key: 'address',
    header: 'Address',
    cell: ({ address, from, to }) => (
      <>
        <Address address={address} isWhole />
        <span className="block text-sm text-soft sm:hidden">
          {from !== '' && `From ${exactMinute(from)} `}
          {to === '' ? 'until now' : `until ${exactMinute(to)}`}
        </span>
      </>
    ),
  },
  { key: 'from', header: 'From', from: 'sm', cell: ({ from }) => heldTime(from, '—') },
  { key: 'to', header: 'Until', from: 'sm', isAtEnd: true, cell: ({ to }) => heldTime(to, 'now') },
];
const heldTime = (time: string, empty: string) => (
  <span className="whitespace-nowrap text-soft">{time === '' ? empty : exactMinute(time)}</span>
);

type Act = 'edit' | 'move' | 'remove' | 'cancel';

function Head({
  account,
  changes,
  isRemoved,
}: {
  readonly account: WalletAccount;
  readonly changes: readonly WalletChange[];
  readonly isRemoved: boolean;
}) {
  const { role } = useMerchant();
  const goTo = useGoTo();
  const [act, setAct] = useState<Act>();
  const mayChange = mayDo(role, 'accounts:write') && !isRemoved;
  const waiting = changes.find(({ status }) => status === 'waiting');
  const parts = { account, onClose: () => setAct(undefined) };
  return (
    <>
      <PageHeader
        title={account.accountName}
        badge={isRemoved ? <Badge>Removed</Badge> : <WalletBadge account={account} changes={changes} />}
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
                <Button size="small" onClick={() => setAct('cancel')}>
                  Cancel it
                </Button>
              )
            }
          >
            <Address address={waiting.accountAddress} /> takes effect{' '}
            <Time time={waiting.effectiveAt} className="font-medium text-ink" />, on{' '}
            {exactMinute(waiting.effectiveAt)}. If no one in your team asked for it, cancel it: the delay is
            there to stop a thief.
          </Notice>
        </div>
      )}
      {act === 'edit' && <EditWalletSheet {...parts} />}
      {act === 'move' && <MoveWalletSheet {...parts} />}
      {act === 'remove' && <RemoveWallet {...parts} onRemoved={() => goTo('wallets')} />}
      {act === 'cancel' && waiting !== undefined && <CancelChange change={waiting} onClose={parts.onClose} />}
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
  const { data } = useRead('GET /account/change/list', {});
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
      <Fact name="Payments arrive">{modeTitle(account.settlementMode, data?.settlementMode)}</Fact>
      <Fact name="Version">
        <Id id={account.version} />
      </Fact>
      <Fact name="Added">
        <Time isWhole time={account.createAt} />
      </Fact>
      <Fact name="Changed">
        <Time isWhole time={account.updateAt} />
      </Fact>
    </Facts>
  );
}

interface WayProps {
  readonly account: WalletAccount;
  readonly tokens: readonly SettlementToken[];
}

/** Payments that are paid and not settled yet. */
function OnItsWay({ account: { accountId }, tokens }: WayProps) {
  const summary = useRead('GET /summary', {});
  const columns: readonly Column<MoneyOnItsWay>[] = [
    {
      key: 'token',
      header: 'Token',
      isWide: true,
      cell: ({ tokenId, status }) => (
        <>
          {tokenNames([tokenId], tokens)}
          <span className="block text-sm text-soft sm:hidden">
            {sessionStatusText(status as SessionStatus)}
          </span>
        </>
      ),
    },
    {
      key: 'state',
      header: 'Status',
      from: 'sm',
      cell: ({ status }) => (
        <span className="whitespace-nowrap">{sessionStatusText(status as SessionStatus)}</span>
      ),
    },
    {
      key: 'payments',
      header: 'Payments',
      isAtEnd: true,
      cell: ({ status, payments }) => (
        <ScreenLink
          path="payments"
          search={{ accountId, status } as never}
          className="text-accent underline-offset-2 hover:underline"
        >
          {formatNumber(payments)}
        </ScreenLink>
      ),
    },
    {
      key: 'amount',
      header: 'You receive',
      isAtEnd: true,
      cell: ({ netValue }) => <Usd micro={netValue} className="font-medium" />,
    },
  ];
  return (
    <Section title="On its way to it" description="Payments that are paid and not settled yet.">
      <Table
        label="On its way"
        columns={columns}
        source={{
          rows: summary.data?.onItsWay.filter((row) => row.accountId === accountId),
          error: summary.error,
          onRetry: () => void summary.refetch(),
        }}
        keyOf={({ tokenId, status }) => `${tokenId} ${status}`}
        skeletonRows={1}
        empty={
          <EmptyLine>
            Nothing is on its way.{' '}
            <ScreenLink
              path="payments"
              search={{ accountId } as never}
              className="text-accent underline-offset-2 hover:underline"
            >
              All payments to this wallet
            </ScreenLink>
          </EmptyLine>
        }
      />
    </Section>
  );
}
