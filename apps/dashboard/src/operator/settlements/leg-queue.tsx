import { Link } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '../../api/use-call.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/dialog.tsx';
import { OddFilters } from '../../ui/odd-filters.tsx';
import { Fact, Facts, Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Address, Id, Time, Usd } from '../../ui/value.tsx';
import { gweiText, integerText } from '../figure.ts';
import { Pager } from '../pager.tsx';
import { runbookOfReason } from '../runbook.ts';
import { TroubleBadge } from '../trouble-sign.tsx';
import { useHealth, useMerchantNames } from '../use-installation.ts';
import { ReleaseDialog } from './release-dialog.tsx';
import { replacedText, TransactionFacts } from './transaction-facts.tsx';
import { useWorkList } from './use-work-list.ts';
import { type ListedLeg, pageSize, purposeText, reasonText, refreshMs } from './work.ts';
import { WorkFilters } from './work-filters.tsx';

const states = [
  { value: '', label: 'All legs' },
  { value: 'open', label: 'Not done' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'held', label: 'Held' },
  { value: 'sent', label: 'Sent' },
  { value: 'done', label: 'Done' },
] as const;

/** The settlement legs of all merchants, usual or not, newest first; each with the transaction that carries it. */
export function LegQueue() {
  const { filters, values, set, state, page, query, toPage, clear } = useWorkList(states);
  const list = useRead(
    'GET /staff/settlement/list/:page/:size',
    {
      params: { page, size: pageSize },
      query: {
        ...(state === '' ? {} : { state }),
        ...query,
      },
    },
    { everyMs: refreshMs },
  );
  const names = useMerchantNames();
  const [opened, setOpened] = useState<ListedLeg>();
  return (
    <>
      <OddFilters of={filters} />
      <WorkFilters
        values={values}
        onChange={set}
        states={states}
        search={{ label: 'Find the legs of a payment', placeholder: 'Id of a session or an order' }}
      />
      <Table
        label="Settlement legs"
        columns={columnsOf(names)}
        choiceName="operator-legs"
        source={{ rows: list.data?.legs, error: list.error, onRetry: () => void list.refetch() }}
        keyOf={({ orderId, leg }) => `${orderId} ${leg}`}
        onOpen={setOpened}
        onClearFilters={clear}
        empty={
          <Empty icon={<Send />} title="No settlements yet">
            A leg stands here from the moment its payment is final.
          </Empty>
        }
      />
      <Pager page={page} hasMore={list.data?.hasMore === true} onChange={toPage} />
      {opened !== undefined && <LegSheet leg={opened} names={names} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function LegState({ leg: { status, reason } }: { readonly leg: ListedLeg }) {
  if (status === 'done') return reason === '' ? <Badge tone="good">Done</Badge> : <Badge>Closed</Badge>;
  const runbook = runbookOfReason(reason);
  if (status === 'held')
    return (
      <TroubleBadge trouble="settlementHeld" runbook={runbook}>
        Held
      </TroubleBadge>
    );
  if (reason !== '')
    return (
      <TroubleBadge trouble="settlementDelayed" runbook={runbook}>
        Delayed
      </TroubleBadge>
    );
  return status === 'sent' ? <Badge tone="info">Sent</Badge> : <Badge>Waiting</Badge>;
}

/** The page of the payment, as its merchant sees it. */
export function PaymentLink({
  leg: { merchantId, sessionId },
}: {
  readonly leg: Pick<ListedLeg, 'merchantId' | 'sessionId'>;
}) {
  return (
    <Link
      to={`/${merchantId}/payments/${sessionId}`}
      className="text-accent underline-offset-2 hover:underline"
    >
      Payment
    </Link>
  );
}

function columnsOf(names: ReadonlyMap<string, string>): readonly Column<ListedLeg>[] {
  return [
    {
      key: 'leg',
      header: 'Leg',
      cell: ({ leg, chain }) => (
        <>
          <span className="block font-medium">{purposeText(leg)}</span>
          <span className="block text-sm text-soft">{chain}</span>
        </>
      ),
    },
    { key: 'state', header: 'Status', cell: (leg) => <LegState leg={leg} /> },
    {
      key: 'value',
      header: 'Amount',
      isAtEnd: true,
      cell: ({ value }) => <Usd micro={value} />,
    },
    {
      key: 'payment',
      header: 'Payment',
      from: 'sm',
      isWide: true,
      cell: (leg) => (
        <>
          <span className="block truncate text-sm text-soft">
            <bdi>{names.get(leg.merchantId) ?? leg.merchantId}</bdi>
          </span>
          <PaymentLink leg={leg} />
        </>
      ),
    },
    {
      key: 'nonce',
      header: 'Nonce',
      from: 'lg',
      isAtEnd: true,
      cell: ({ transaction }) => (
        <span className="tabular-nums">{transaction === null ? '—' : integerText(transaction.nonce)}</span>
      ),
    },
    {
      key: 'fee',
      header: 'Highest fee',
      from: 'lg',
      isAtEnd: true,
      cell: ({ transaction }) => (
        <span className="whitespace-nowrap tabular-nums">
          {transaction === null ? '—' : gweiText(transaction.attempts[0]?.maxFee ?? '')}
        </span>
      ),
    },
    {
      key: 'replaced',
      header: 'Replaced',
      from: 'xl',
      isAtEnd: true,
      cell: ({ transaction }) => (transaction === null ? '—' : replacedText(transaction)),
    },
    {
      key: 'since',
      header: 'Since',
      from: 'md',
      isAtEnd: true,
      cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
    },
  ];
}

function LegSheet({
  leg,
  names,
  onClose,
}: {
  readonly leg: ListedLeg;
  readonly names: ReadonlyMap<string, string>;
  readonly onClose: () => void;
}) {
  const at = useHealth().data?.at ?? '';
  const [isReleasing, setReleasing] = useState(false);
  const { status, reason, transaction } = leg;
  const isWaiting = status === 'waiting' || status === 'held';
  return (
    <Sheet
      isOpen
      onClose={onClose}
      title={`${purposeText(leg.leg)} on ${leg.chain}`}
      description={<bdi>{names.get(leg.merchantId) ?? leg.merchantId}</bdi>}
    >
      <Facts>
        <Fact name="Status">
          <LegState leg={leg} />
        </Fact>
        {reason !== '' && <Fact name="Why">{reasonText(reason)}</Fact>}
        <Fact name="Amount">
          <Usd micro={leg.value} />
        </Fact>
        <Fact name="Session">
          <Id id={leg.sessionId} /> <PaymentLink leg={leg} />
        </Fact>
        <Fact name="Order" isBlock>
          <Address address={leg.orderId} isWhole />
        </Fact>
        <Fact name="Since">
          <Time isWhole time={leg.createAt} />
        </Fact>
        <Fact name="Last change">
          <Time isWhole time={leg.updateAt} />
        </Fact>
        {isWaiting && (
          <Fact name="Next attempt">
            <Time isWhole time={leg.nextAt} empty="waits for you" />
          </Fact>
        )}
        <Fact name="Attempts">
          <span className="tabular-nums">{integerText(leg.attempts)}</span>
        </Fact>
      </Facts>
      {isWaiting && (
        <div className="mt-4">
          <Button onClick={() => setReleasing(true)}>Release…</Button>
        </div>
      )}
      {transaction !== null && (
        <div className="mt-6">
          <Section title="Transaction">
            <TransactionFacts sent={transaction} at={at} />
          </Section>
        </div>
      )}
      {isReleasing && (
        <ReleaseDialog
          orderId={leg.orderId}
          value={leg.value}
          onClose={() => {
            setReleasing(false);
            onClose();
          }}
        />
      )}
    </Sheet>
  );
}
