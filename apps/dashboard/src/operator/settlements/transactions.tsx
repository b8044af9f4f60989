import { Send } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '../../api/use-call.ts';
import { Sheet } from '../../ui/dialog.tsx';
import { OddFilters } from '../../ui/odd-filters.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Address, Time } from '../../ui/value.tsx';
import { gweiText, integerText } from '../figure.ts';
import { Pager } from '../pager.tsx';
import { useHealth } from '../use-installation.ts';
import { replacedText, SentState, TransactionFacts } from './transaction-facts.tsx';
import { useWorkList } from './use-work-list.ts';
import { explorerLink, type ListedTransaction, pageSize, purposeText, refreshMs } from './work.ts';
import { WorkFilters } from './work-filters.tsx';

const states = [
  { value: '', label: 'In no final block' },
  { value: 'succeeded', label: 'Final' },
  { value: 'failed', label: 'Reverted' },
  { value: 'superseded', label: 'Nonce taken' },
  { value: 'all', label: 'All' },
] as const;

/** The transactions of the service's wallets, newest first; each with what replaced what. */
export function TransactionTable() {
  const { filters, values, set, state, page, query, toPage, clear } = useWorkList(states);
  const list = useRead(
    'GET /staff/transaction/list/:page/:size',
    {
      params: { page, size: pageSize },
      query: {
        ...(state === 'all' ? {} : { state: state === '' ? 'pending' : state }),
        ...query,
      },
    },
    { everyMs: refreshMs },
  );
  const at = useHealth().data?.at ?? '';
  const [opened, setOpened] = useState<ListedTransaction>();
  return (
    <>
      <OddFilters of={filters} />
      <WorkFilters
        values={values}
        onChange={set}
        states={states}
        search={{ label: 'Find a transaction', placeholder: 'Hash of a transaction' }}
      />
      <Table
        label="Sent transactions"
        columns={columnsOf(at)}
        choiceName="operator-transactions"
        source={{ rows: list.data?.transactions, error: list.error, onRetry: () => void list.refetch() }}
        keyOf={({ transactionId }) => transactionId}
        onOpen={setOpened}
        onClearFilters={clear}
        empty={
          <Empty icon={<Send />} title="Nothing is on its way">
            Every transaction that was sent is in a final block.
          </Empty>
        }
      />
      <Pager page={page} hasMore={list.data?.hasMore === true} onChange={toPage} />
      {opened !== undefined && (
        <Sheet
          isOpen
          onClose={() => setOpened(undefined)}
          title={`${purposeText(opened.purpose)} on ${opened.chain}`}
          description={`Nonce ${integerText(opened.nonce)}`}
        >
          <TransactionFacts sent={opened} at={at} />
        </Sheet>
      )}
    </>
  );
}

function columnsOf(at: string): readonly Column<ListedTransaction>[] {
  return [
    {
      key: 'purpose',
      header: 'For',
      cell: ({ purpose, chain }) => (
        <>
          <span className="block font-medium">{purposeText(purpose)}</span>
          <span className="block text-sm text-soft">{chain}</span>
        </>
      ),
    },
    { key: 'state', header: 'Status', cell: (sent) => <SentState sent={sent} at={at} /> },
    {
      key: 'nonce',
      header: 'Nonce',
      isAtEnd: true,
      cell: ({ nonce }) => <span className="tabular-nums">{integerText(nonce)}</span>,
    },
    {
      key: 'fee',
      header: 'Highest fee',
      from: 'md',
      isAtEnd: true,
      cell: ({ attempts: [latest] }) => (
        <span className="whitespace-nowrap tabular-nums">{gweiText(latest?.maxFee ?? '')}</span>
      ),
    },
    {
      key: 'replaced',
      header: 'Replaced',
      from: 'md',
      isAtEnd: true,
      cell: (sent) => <span className="tabular-nums">{replacedText(sent)}</span>,
    },
    {
      key: 'hash',
      header: 'Transaction',
      from: 'lg',
      cell: ({ explorer, minedHash, attempts: [latest] }) => {
        const txHash = minedHash === '' ? (latest?.txHash ?? '') : minedHash;
        return <Address address={txHash} href={explorerLink(explorer, 'tx', txHash)} />;
      },
    },
    {
      key: 'wallet',
      header: 'Wallet',
      from: 'xl',
      cell: ({ explorer, wallet }) => (
        <Address address={wallet} href={explorerLink(explorer, 'address', wallet)} />
      ),
    },
    {
      key: 'since',
      header: 'Signed',
      from: 'sm',
      isAtEnd: true,
      cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
    },
  ];
}
