import { Send } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { Fact, Facts, Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Address, Time } from '../../ui/value.tsx';
import { gweiText, integerText } from '../figure.ts';
import { type Health, isSlow } from '../problem.ts';
import { RunbookLink } from '../runbook-link.tsx';

type Sent = Health['transactions'][number];

/** Transactions in no final block, in the order of their sending; each with what replaced what. */
export function TransactionTable({
  health,
  source,
}: {
  readonly health: Health | undefined;
  readonly source: { readonly error: unknown; readonly onRetry: () => void };
}) {
  const [opened, setOpened] = useState<Sent>();
  const chainName = ({ chainId }: Sent) =>
    health?.chains.find((chain) => chain.chainId === chainId)?.chain ?? chainId;
  const columns: readonly Column<Sent>[] = [
    {
      key: 'purpose',
      header: 'For',
      cell: (sent) => (
        <>
          <span className="block font-medium">{sent.purpose}</span>
          <span className="block text-sm text-soft">{chainName(sent)}</span>
        </>
      ),
    },
    {
      key: 'state',
      header: 'Status',
      cell: (sent) => (
        <span className="inline-flex flex-wrap items-center gap-2">
          <SentState sent={sent} at={health?.at ?? ''} />
        </span>
      ),
    },
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
        <span className="tabular-nums">{gweiText(latest?.maxFee ?? '')}</span>
      ),
    },
    {
      key: 'attempts',
      header: 'Replaced',
      from: 'md',
      isAtEnd: true,
      cell: ({ attemptCount }) => (
        <span className="tabular-nums">{attemptCount <= 1 ? 'never' : `${attemptCount - 1} times`}</span>
      ),
    },
    { key: 'wallet', header: 'Wallet', from: 'lg', cell: ({ wallet }) => <Address address={wallet} /> },
    {
      key: 'since',
      header: 'Signed',
      from: 'sm',
      isAtEnd: true,
      cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
    },
  ];
  return (
    <>
      <Table
        label="Sent transactions"
        columns={columns}
        source={{ rows: health?.transactions, ...source }}
        keyOf={({ chainId, wallet, nonce }) => `${chainId} ${wallet} ${nonce}`}
        onOpen={setOpened}
        empty={
          <Empty icon={<Send />} title="Nothing is on its way">
            Every transaction that was sent is in a final block.
          </Empty>
        }
      />
      {opened !== undefined && (
        <Sheet
          isOpen
          onClose={() => setOpened(undefined)}
          title={`${opened.purpose} on ${chainName(opened)}`}
          description={`Nonce ${integerText(opened.nonce)}`}
        >
          <Facts>
            <Fact name="Wallet">
              <Address address={opened.wallet} isWhole />
            </Fact>
            <Fact name="Signed">
              <Time isWhole time={opened.createAt} />
            </Fact>
            <Fact name="In a block">
              {opened.minedHash === '' ? 'not yet' : <Address address={opened.minedHash} isWhole />}
            </Fact>
          </Facts>
          <div className="mt-6">
            <Section title="Attempts" description="The latest first. Each replaced the one below it.">
              <ol className="divide-y divide-line overflow-hidden rounded-lg border border-line">
                {opened.attempts.map(({ txHash, maxFee, createAt }) => (
                  <li key={txHash} className="grid gap-1 px-3 py-2">
                    <Address address={txHash} isWhole />
                    <span className="text-soft tabular-nums">
                      {gweiText(maxFee)} · <Time time={createAt} />
                      {txHash === opened.minedHash && ' · in a block'}
                    </span>
                  </li>
                ))}
              </ol>
            </Section>
          </div>
        </Sheet>
      )}
    </>
  );
}

function SentState({ sent, at }: { readonly sent: Sent; readonly at: string }) {
  if (sent.minedHash !== '') return <Badge tone="info">In a block</Badge>;
  if (!isSlow(sent, at)) return <Badge>Sent</Badge>;
  return (
    <>
      <Badge tone="bad">In no block</Badge>
      <RunbookLink name="settlements" />
    </>
  );
}
