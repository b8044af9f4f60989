import { BookCheck } from 'lucide-react';
import { Badge } from '../../ui/badge.tsx';
import { Card, PageHeader, Section, SkeletonFacts } from '../../ui/page.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time, Tokens } from '../../ui/value.tsx';
import { AsOf } from '../as-of.tsx';
import { integerText, symbolOf } from '../figure.ts';
import { type ChainHealth, stopReason, stopTrouble } from '../problem.ts';
import { TroubleNotice, TroubleText } from '../trouble-sign.tsx';
import { useHealth, useTokens } from '../use-installation.ts';

type Balance = ChainHealth['balances'][number];

const holders: Readonly<Record<Balance['holder'], string>> = {
  gateway: 'Gateways',
  vault: 'Vaults',
  fees: 'Fees in the gateways',
};

/** Ledger against chain for every balance, as the last comparison found it. */
export default function Books() {
  const health = useHealth();
  const tokens = useTokens();
  const decimalsOf = (tokenId: string) =>
    tokens.data?.tokens.find((token) => token.tokenId === tokenId)?.decimals;
  const { data, error } = health;
  return (
    <>
      <PageHeader
        title="Books"
        description="The service compares its ledger with each chain every minute. A difference that a second reading confirms stops settlements on that chain."
        actions={<AsOf source={health} />}
      />
      {data === undefined && error !== null && (
        <Card>
          <Failed error={error} onRetry={() => void health.refetch()} />
        </Card>
      )}
      {data === undefined && error === null && (
        <Card>
          <SkeletonFacts lines={8} />
        </Card>
      )}
      {data?.chains.map((chain) => (
        <Section key={chain.chainId} title={chain.chain} description={<Compared chain={chain} />}>
          {chain.settlement === 'stopped' && (
            <div className="mb-3">
              <TroubleNotice trouble={stopTrouble(chain.settlementReason)} title="Settlement is stopped">
                {stopReason(chain.settlementReason)}
              </TroubleNotice>
            </div>
          )}
          <Table
            label={`Books of ${chain.chain}`}
            columns={columnsOf(decimalsOf)}
            source={{ rows: chain.balances, error: null, onRetry: () => void health.refetch() }}
            keyOf={({ holder, token }) => `${holder} ${token}`}
            empty={<Empty icon={<BookCheck />} title="Not compared yet" />}
          />
        </Section>
      ))}
    </>
  );
}

function Compared({ chain: { lastTriedAt, reconciledAt } }: { readonly chain: ChainHealth }) {
  return (
    <>
      Last tried <Time time={lastTriedAt} empty="never" /> · every balance agreed{' '}
      <Time time={reconciledAt} empty="never" />
    </>
  );
}

function columnsOf(decimalsOf: (tokenId: string) => number | undefined): readonly Column<Balance>[] {
  const amount = (token: string, units: string) => {
    const decimals = decimalsOf(token);
    if (decimals === undefined) return <span className="tabular-nums">{units} units</span>;
    return <Tokens units={units} decimals={decimals} symbol={symbolOf(token)} />;
  };
  return [
    {
      key: 'what',
      header: 'Balance',
      cell: ({ holder, token }) => (
        <>
          <span className="block font-medium">{symbolOf(token)}</span>
          <span className="block text-sm text-soft">{holders[holder]}</span>
        </>
      ),
    },
    {
      key: 'ledger',
      header: 'Ledger',
      isAtEnd: true,
      from: 'sm',
      cell: ({ token, ledger }) => amount(token, ledger),
    },
    {
      key: 'chain',
      header: 'Chain',
      isAtEnd: true,
      from: 'sm',
      cell: ({ token, chain }) => amount(token, chain),
    },
    {
      key: 'difference',
      header: 'Difference',
      isAtEnd: true,
      cell: ({ token, difference }) =>
        difference === '0' ? (
          <Badge tone="good">None</Badge>
        ) : (
          <TroubleText trouble="booksDiffer">{amount(token, difference)}</TroubleText>
        ),
    },
    {
      key: 'block',
      header: 'At block',
      from: 'md',
      isAtEnd: true,
      cell: ({ blockNumber }) => <span className="text-soft tabular-nums">{integerText(blockNumber)}</span>,
    },
  ];
}
