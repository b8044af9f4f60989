import { Plus, Wallet } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { useScreenPath } from '../app/screen-link.tsx';
import { Button } from '../ui/button.tsx';
import { shortAddress } from '../ui/format.ts';
import { PageHeader, Section } from '../ui/page.tsx';
import { Empty, EmptyLine } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Usd } from '../ui/value.tsx';
import { AddWalletSheet } from './add-wallet.tsx';
import { ChangesTable } from './changes-table.tsx';
import type { MoneyOnItsWay, SettlementToken, WalletAccount, WalletChange } from './types.ts';
import { WalletBadge } from './wallet-badge.tsx';
import { delayText, modeTitle, rereadMs, sumOnItsWay, tokenNames } from './wallet-words.ts';

const columnsOf = (
  tokens: readonly SettlementToken[],
  changes: readonly WalletChange[],
  onItsWay: readonly MoneyOnItsWay[] | undefined,
  inForce: 'escrow' | 'direct' | undefined,
): readonly Column<WalletAccount>[] => [
  {
    key: 'name',
    header: 'Wallet',
    isWide: true,
    cell: ({ accountName, accountAddress }) => (
      <>
        <span className="block truncate font-medium">{accountName}</span>
        <span className="block truncate font-mono text-sm text-soft" title={accountAddress}>
          {shortAddress(accountAddress)}
        </span>
      </>
    ),
  },
  {
    key: 'tokens',
    header: 'Tokens',
    from: 'md',
    cell: ({ settlementCurrencies }) => <TokenLines names={tokenNames(settlementCurrencies, tokens)} />,
  },
  {
    key: 'mode',
    header: 'Payments arrive',
    from: 'xl',
    cell: ({ settlementMode }) => (
      <span className="whitespace-nowrap text-soft">{modeTitle(settlementMode, inForce)}</span>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    cell: (account) => <WalletBadge account={account} changes={changes} />,
  },
  {
    key: 'way',
    header: 'On its way',
    isAtEnd: true,
    from: 'sm',
    cell: ({ accountId }) => onItsWay !== undefined && <Usd micro={sumOnItsWay(onItsWay, accountId)} />,
  },
];

/** Tokens that a row shows, since the name needs the room; the page of the wallet has all. */
const maxShownTokens = 1;

function TokenLines({ names }: { readonly names: readonly string[] }) {
  const more = names.length - maxShownTokens;
  return (
    <span className="block whitespace-nowrap text-soft" title={names.join(', ')}>
      {names.slice(0, maxShownTokens).join(', ')}
      {more > 0 && ` and ${more} more`}
    </span>
  );
}

/** The wallets that settlements go to, and what waits. */
export default function Wallets() {
  const { role } = useMerchant();
  const mayChange = mayDo(role, 'accounts:write');
  const accounts = useRead('GET /account/list', {}, { everyMs: rereadMs });
  const changes = useRead('GET /account/change/list', {}, { everyMs: rereadMs });
  const tokens = useRead('GET /token/list', {});
  const summary = useRead('GET /summary', {});
  const pathOf = useScreenPath();
  const [isAdding, setAdding] = useState(false);
  const delaySeconds = changes.data?.delaySeconds ?? 0;
  return (
    <>
      <PageHeader
        title="Wallets"
        description="Payments are settled to these wallets. Florin never holds their keys."
        actions={
          mayChange && (
            <Button kind="primary" icon={<Plus />} onClick={() => setAdding(true)}>
              Add a wallet
            </Button>
          )
        }
      />
      <Table
        label="Wallets"
        columns={columnsOf(
          tokens.data?.tokens ?? [],
          changes.data?.changes ?? [],
          summary.data?.onItsWay,
          changes.data?.settlementMode,
        )}
        source={{ rows: accounts.data, error: accounts.error, onRetry: () => void accounts.refetch() }}
        keyOf={({ accountId }) => accountId}
        hrefOf={({ accountId }) => pathOf(`wallets/${accountId}`)}
        skeletonRows={3}
        empty={
          <Empty
            icon={<Wallet />}
            title="No wallets"
            action={
              mayChange && (
                <Button kind="primary" icon={<Plus />} onClick={() => setAdding(true)}>
                  Add a wallet
                </Button>
              )
            }
          >
            Payments need a wallet to go to.
          </Empty>
        }
      />
      <Section
        title="Changes"
        description={
          delaySeconds > 0
            ? `A new wallet or address waits ${delayText(delaySeconds)} before it takes money. So a thief who gets into an account cannot send your money elsewhere at once: you see it here and cancel it.`
            : 'New wallets and new addresses. They take effect at once on this installation.'
        }
      >
        <ChangesTable
          source={{
            rows: changes.data?.changes,
            error: changes.error,
            onRetry: () => void changes.refetch(),
          }}
          empty={<EmptyLine>No changes yet.</EmptyLine>}
        />
      </Section>
      <AddWalletSheet isOpen={isAdding} onClose={() => setAdding(false)} />
    </>
  );
}
