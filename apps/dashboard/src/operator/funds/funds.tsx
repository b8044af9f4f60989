import { Fuel, Vault } from 'lucide-react';
import { Badge } from '../../ui/badge.tsx';
import { PageHeader, Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Address, Time, Usd } from '../../ui/value.tsx';
import { AsOf } from '../as-of.tsx';
import { chainOf, coinsText, lastingText, symbolOf } from '../figure.ts';
import { gasTrouble, type ServiceFunds, vaultTrouble } from '../problem.ts';
import { TroubleBadge } from '../trouble-sign.tsx';
import { useFunds } from '../use-installation.ts';

type Wallet = ServiceFunds['wallets'][number];
type TokenVault = ServiceFunds['vaults'][number];

const unknown = <span className="text-faint">unknown</span>;

const walletColumns: readonly Column<Wallet>[] = [
  {
    key: 'chain',
    header: 'Wallet',
    cell: ({ chain, role }) => (
      <>
        <span className="block font-medium">{chain}</span>
        <span className="block text-sm text-soft">{role}</span>
      </>
    ),
  },
  { key: 'address', header: 'Address', from: 'lg', cell: ({ address }) => <Address address={address} /> },
  {
    key: 'balance',
    header: 'Native coin',
    from: 'sm',
    isAtEnd: true,
    cell: ({ balance }) => (
      <span className="tabular-nums" title={balance === '' ? undefined : `${balance} wei`}>
        {balance === '' ? unknown : coinsText(balance)}
      </span>
    ),
  },
  {
    key: 'needed',
    header: 'For three days',
    from: 'md',
    isAtEnd: true,
    cell: ({ needed }) => (
      <span className="tabular-nums" title={needed === '' ? undefined : `${needed} wei`}>
        {needed === '' ? unknown : coinsText(needed)}
      </span>
    ),
  },
  {
    key: 'runway',
    header: 'Lasts',
    isAtEnd: true,
    cell: ({ secondsLeft }) => (
      <span className="tabular-nums">{secondsLeft < 0 ? unknown : lastingText(secondsLeft)}</span>
    ),
  },
  {
    key: 'state',
    header: 'Status',
    isAtEnd: true,
    cell: (wallet) => <State trouble={gasTrouble(wallet)} />,
  },
];

const vaultColumns: readonly Column<TokenVault>[] = [
  {
    key: 'token',
    header: 'Vault',
    cell: ({ tokenId }) => (
      <>
        <span className="block font-medium">{symbolOf(tokenId)}</span>
        <span className="block text-sm text-soft">{chainOf(tokenId)}</span>
      </>
    ),
  },
  {
    key: 'float',
    header: 'Can pay now',
    isAtEnd: true,
    cell: ({ float }) => (float === '' ? unknown : <Usd micro={float} />),
  },
  {
    key: 'cap',
    header: 'Cap for one order',
    from: 'sm',
    isAtEnd: true,
    cell: ({ cap }) => (cap === '' ? unknown : <Usd micro={cap} />),
  },
  {
    key: 'at',
    header: 'Vault asked',
    from: 'md',
    isAtEnd: true,
    cell: ({ readAt }) => <Time time={readAt} empty="never answered" className="text-soft" />,
  },
  {
    key: 'state',
    header: 'Status',
    isAtEnd: true,
    cell: (vault) => {
      if (vault.cap === '0') return <Badge>Not used</Badge>;
      return <State trouble={vaultTrouble(vault)} />;
    },
  },
];

const stateWords = {
  gasOut: 'Runs out',
  gasLow: 'Low',
  gasUnknown: 'Unknown',
  vaultEmpty: 'Empty',
  vaultLow: 'Below one order',
  vaultUnknown: 'Unknown',
} as const;

function State({ trouble }: { readonly trouble: keyof typeof stateWords | undefined }) {
  if (trouble === undefined) return <Badge tone="good">Enough</Badge>;
  return (
    <TroubleBadge isAtEnd trouble={trouble}>
      {stateWords[trouble]}
    </TroubleBadge>
  );
}

/** The gas of the sending wallets, and the floats and caps of the vaults. */
export default function Funds() {
  const funds = useFunds();
  const source = { error: funds.error, onRetry: () => void funds.refetch() };
  return (
    <>
      <PageHeader title="Funds" actions={<AsOf source={funds} />} />
      <Section
        title="Gas"
        description="What the sending wallets hold, and how long it lasts if they spend as in the last days."
      >
        <Table
          label="Gas"
          columns={walletColumns}
          source={{ rows: funds.data?.wallets, ...source }}
          keyOf={({ chain, role, address }) => `${chain} ${role} ${address}`}
          empty={<Empty icon={<Fuel />} title="No wallet sends" />}
        />
      </Section>
      <Section
        title="Vaults"
        description="A vault pays merchants when the payer paid on another chain and CCTP does not carry the payment. You see what it can pay now: what it holds, within its limits for the hour and the day. The service reads it about every minute."
      >
        <Table
          label="Vaults"
          columns={vaultColumns}
          source={{ rows: funds.data?.vaults, ...source }}
          keyOf={({ tokenId }) => tokenId}
          empty={<Empty icon={<Vault />} title="No token is configured" />}
        />
      </Section>
    </>
  );
}
