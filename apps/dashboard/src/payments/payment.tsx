import type { SessionView } from '@florin/protocol/session.ts';
import { useParams } from '@tanstack/react-router';
import { Ban, ExternalLink, Link2, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { useRead, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { useScreenPath } from '../app/screen-link.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Notice } from '../ui/notice.tsx';
import { Card, Fact, Facts, PageHeader, Section, Skeleton } from '../ui/page.tsx';
import { SessionStatusBadge } from '../ui/session-status.tsx';
import { Failed } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { Address, Id, Time, Tokens, Usd } from '../ui/value.tsx';
import { MoneyWay } from './money-way.tsx';
import { delayReason, exceptionText, refundStatusText } from './payment-words.ts';
import { RefundDialog } from './refund-dialog.tsx';
import { Timeline } from './timeline.tsx';
import type { PaymentHistory, PaymentToken } from './types.ts';

/** Payments move by themselves until they are settled, so the page follows them. */
const followMs = 4_000;
const restingStatuses = new Set(['completed', 'expired', 'cancelled']);

/** One payment: where its money is, everything that happened, and what can be done. */
export default function Payment() {
  const { sessionId = '' } = useParams({ strict: false }) as { sessionId?: string };
  const [isMoving, setMoving] = useState(true);
  const follow = isMoving ? { everyMs: followMs } : {};
  const read = useRead('GET /session/:sessionId', { params: { sessionId } }, follow);
  const history = useRead('GET /session/history/:sessionId', { params: { sessionId } }, follow);
  const tokens = useRead('GET /token/list', {});
  const view = read.data;
  if (view !== undefined && restingStatuses.has(view.session.status) === isMoving)
    setMoving(!restingStatuses.has(view.session.status));
  if (view === undefined) {
    if (read.error !== null) return <Failed error={read.error} onRetry={() => void read.refetch()} />;
    return <Loading />;
  }
  const tokenOf = (tokenId: string) => tokens.data?.tokens.find((token) => token.tokenId === tokenId);
  return <Loaded view={view} history={history.data} tokenOf={tokenOf} tokens={tokens.data?.tokens ?? []} />;
}

function Loading() {
  return (
    <>
      <PageHeader title="Payment" />
      <div className="grid gap-4">
        <Skeleton className="h-32" />
        <Skeleton className="h-64" />
      </div>
    </>
  );
}

interface LoadedProps {
  readonly view: SessionView;
  readonly history: PaymentHistory | undefined;
  readonly tokenOf: (tokenId: string) => PaymentToken | undefined;
  readonly tokens: readonly PaymentToken[];
}

function Loaded({ view, history, tokenOf, tokens }: LoadedProps) {
  const { session, transaction } = view;
  const openExceptions = history?.exceptions.filter(({ status }) => status === 'open') ?? [];
  return (
    <>
      <PageHeader
        title={`Payment of ${formatTitle(session.amount)}`}
        badge={<SessionStatusBadge session={session} />}
        description={<Id id={session.sessionId} isWhole />}
        actions={<Actions view={view} />}
      />
      <div className="grid gap-3 not-empty:mb-6">
        {session.pendingReason !== '' && (
          <Notice tone="warn" title="The settlement is delayed">
            {delayReason(session.pendingReason)} Florin tries again by itself.
          </Notice>
        )}
        {openExceptions.map((exception) => (
          <Notice key={exception.exceptionId} tone="warn" title={exceptionText(exception.kind).title}>
            {exceptionText(exception.kind).what}
          </Notice>
        ))}
        {view.deposits?.map((deposit) => (
          <Notice
            key={`${deposit.tokenId}${deposit.payUntil}`}
            tone="info"
            title="A part of the payment has arrived"
          >
            <Tokens units={deposit.amountInToken} decimals={deposit.decimals} symbol={deposit.symbol} /> came
            by transfer;{' '}
            <Tokens units={deposit.missingInToken} decimals={deposit.decimals} symbol={deposit.symbol} /> are
            missing.
          </Notice>
        ))}
      </div>
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0">
          {transaction !== undefined && (
            <Section title="The way of the money">
              <MoneyWay view={view} tokenOf={tokenOf} />
            </Section>
          )}
          <Section title="What was bought">
            <Items view={view} />
          </Section>
          <Section title="Details">
            <Details view={view} tokenOf={tokenOf} />
          </Section>
          <Refunds history={history} />
          <Deliveries history={history} />
        </div>
        <aside className="min-w-0 max-lg:row-start-1">
          <Section title="Timeline">
            <Card>
              <Timeline history={history} tokens={tokens} />
            </Card>
          </Section>
        </aside>
      </div>
    </>
  );
}

function formatTitle(micro: number): string {
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
  }).format(micro / 1_000_000);
}

function Actions({ view: { session, transaction } }: { readonly view: SessionView }) {
  const { role } = useMerchant();
  const [isRefunding, setRefunding] = useState(false);
  const [isCancelling, setCancelling] = useState(false);
  const cancel = useWrite('POST /session/checkout/cancel', {
    onDone: () => {
      toast('Payment cancelled');
      setCancelling(false);
    },
  });
  const isOpen = session.status === 'initialized';
  const left = session.amount - session.refundedAmount;
  const mayRefund = transaction !== undefined && left > 0 && mayDo(role, 'refunds:write');
  return (
    <>
      {isOpen && session.paymentUrl !== '' && (
        <>
          <Button
            icon={<Link2 />}
            onClick={() =>
              void navigator.clipboard.writeText(session.paymentUrl).then(() => toast('Link copied'))
            }
          >
            Copy link
          </Button>
          <a href={session.paymentUrl} target="_blank" rel="noreferrer" className={buttonClass('plain')}>
            <ExternalLink aria-hidden className="size-4" />
            Open page
          </a>
        </>
      )}
      {isOpen && session.signedOnce === 0 && mayDo(role, 'checkout_sessions:write') && (
        <Button icon={<Ban />} onClick={() => setCancelling(true)}>
          Cancel
        </Button>
      )}
      {mayRefund && (
        <Button icon={<Undo2 />} onClick={() => setRefunding(true)}>
          Refund
        </Button>
      )}
      <RefundDialog
        isOpen={isRefunding}
        onClose={() => setRefunding(false)}
        sessionId={session.sessionId}
        left={left}
        isSettled={session.status === 'completed'}
      />
      <Confirm
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        title="Cancel this payment?"
        act="Cancel the payment"
        onConfirm={() => cancel.run({ body: { sessionId: session.sessionId } })}
        write={cancel}
        isDangerous
      >
        <p>The page then shows that the order was cancelled. It can no longer be paid.</p>
      </Confirm>
    </>
  );
}

function Items({ view: { session, transaction } }: { readonly view: SessionView }) {
  return (
    <Card className="divide-y divide-line px-4 md:px-5">
      {session.lineItems.items.map((item) => (
        <div key={item.lineItemId} className="flex items-center gap-3 py-3">
          {item.productData?.imageUrl !== undefined && item.productData.imageUrl !== '' && (
            <img
              src={item.productData.imageUrl}
              alt=""
              className="size-10 rounded-lg border border-line object-cover"
            />
          )}
          <div className="min-w-0 flex-1">
            <p className="truncate font-medium">{item.productData?.productName ?? 'Amount'}</p>
            <p className="text-sm text-soft">
              {item.quantity} × <Usd micro={item.unitPrice} />
            </p>
          </div>
          <Usd micro={item.unitPrice * item.quantity} className="font-medium" />
        </div>
      ))}
      <dl className="py-3 [&>div]:flex [&>div]:justify-between [&>div]:py-0.5">
        <div>
          <dt className="text-soft">Amount</dt>
          <dd>
            <Usd micro={session.amount} />
          </dd>
        </div>
        {transaction !== undefined && (
          <>
            <div>
              <dt className="text-soft">
                {session.feeModel === 1 ? 'Fee, paid by you' : 'Fee, paid by the payer'}
              </dt>
              <dd>
                <Usd micro={transaction.feeValue} />
              </dd>
            </div>
            <div>
              <dt className="text-soft">The payer paid</dt>
              <dd>
                <Usd micro={transaction.totalValue} />
              </dd>
            </div>
            <div className="font-semibold">
              <dt>You receive</dt>
              <dd>
                <Usd micro={transaction.netValue} />
              </dd>
            </div>
          </>
        )}
        {session.refundedAmount > 0 && (
          <div>
            <dt className="text-soft">Refunded</dt>
            <dd>
              <Usd micro={session.refundedAmount} />
            </dd>
          </div>
        )}
      </dl>
    </Card>
  );
}

const sessionKinds = { chk: 'Checkout session', lnk: 'Payment link', ai_checkout: 'AI agent' } as const;

function Details({ view, tokenOf }: Pick<LoadedProps, 'view' | 'tokenOf'>) {
  const { session, transaction } = view;
  const explorerOf = (tokenId: string) => tokenOf(tokenId)?.explorer ?? '';
  const pathTo = (tokenId: string, kind: 'address' | 'tx', value: string) =>
    explorerOf(tokenId) === '' ? undefined : `${explorerOf(tokenId)}/${kind}/${value}`;
  const settlement = tokenOf(session.settlementToken);
  const metadata = JSON.stringify(session.metadata, undefined, 2);
  return (
    <Card>
      <Facts>
        <Fact name="Made by">
          {sessionKinds[session.sessionType]}
          {session.businessId !== '' && (
            <>
              {' '}
              <Id id={session.businessId} />
            </>
          )}
        </Fact>
        <Fact name="Created">
          <Time time={session.createAt} />
        </Fact>
        {session.status === 'initialized' && (
          <Fact name="Can be paid until">
            <Time time={session.expirationTime} />
          </Fact>
        )}
        {session.payer !== '' && (
          <Fact name="Payer">
            <Address address={session.payer} href={pathTo(session.paidToken, 'address', session.payer)} />
          </Fact>
        )}
        {session.payerEmail !== '' && <Fact name="Payer’s e-mail">{session.payerEmail}</Fact>}
        <Fact name="Your wallet">
          <Address
            address={session.recipient}
            href={pathTo(session.settlementToken, 'address', session.recipient)}
          />
        </Fact>
        <Fact name="Settles in">
          {settlement === undefined
            ? session.settlementToken
            : `${settlement.symbol} on ${settlement.network}`}
        </Fact>
        {session.initiateTx !== '' && (
          <Fact name="Payment">
            <Address
              address={session.initiateTx}
              href={pathTo(session.paidToken, 'tx', session.initiateTx)}
            />
          </Fact>
        )}
        {session.completeTx !== '' && (
          <Fact name="Settlement">
            <Address
              address={session.completeTx}
              href={pathTo(session.settlementToken, 'tx', session.completeTx)}
            />
          </Fact>
        )}
        {transaction !== undefined && (
          <Fact name="Order on chain">
            <Address address={transaction.orderId} />
          </Fact>
        )}
        {session.receiptId !== '' && (
          <Fact name="Receipt">
            <Id id={session.receiptId} />
          </Fact>
        )}
        <Fact name="Metadata">
          {metadata === '{}' ? (
            <span className="text-faint">—</span>
          ) : (
            <pre className="overflow-x-auto rounded-lg bg-sunken p-3 font-mono text-sm">{metadata}</pre>
          )}
        </Fact>
      </Facts>
    </Card>
  );
}

function Refunds({ history }: { readonly history: PaymentHistory | undefined }) {
  const pathOf = useScreenPath();
  if (history === undefined || history.refunds.length === 0) return null;
  const columns: readonly Column<PaymentHistory['refunds'][number]>[] = [
    { key: 'amount', header: 'Amount', cell: ({ amount }) => <Usd micro={amount} className="font-medium" /> },
    { key: 'status', header: 'Status', cell: ({ status }) => refundStatusText(status) },
    { key: 'reason', header: 'Reason', isWide: true, from: 'sm', cell: ({ reason }) => reason || '—' },
    { key: 'at', header: 'Created', isAtEnd: true, cell: ({ createAt }) => <Time time={createAt} /> },
  ];
  return (
    <Section title="Refunds">
      <Table
        label="Refunds"
        columns={columns}
        source={{ rows: history.refunds, error: undefined, onRetry: () => undefined }}
        keyOf={({ refundId }) => refundId}
        hrefOf={({ refundId }) => pathOf(`refunds/${refundId}`)}
        empty={null}
      />
    </Section>
  );
}

function Deliveries({ history }: { readonly history: PaymentHistory | undefined }) {
  if (history === undefined || history.deliveries.length === 0) return null;
  const columns: readonly Column<PaymentHistory['deliveries'][number]>[] = [
    {
      key: 'event',
      header: 'Event',
      cell: ({ eventType }) => <span className="font-mono text-sm">{eventType}</span>,
    },
    { key: 'url', header: 'To', isWide: true, from: 'sm', cell: ({ url }) => url },
    {
      key: 'status',
      header: 'Status',
      cell: ({ status, attempts }) =>
        status === 'pending' && attempts > 0 ? `Tried ${attempts} times` : deliveryWords[status],
    },
    { key: 'at', header: 'Sent', isAtEnd: true, cell: ({ at }) => <Time time={at} /> },
  ];
  return (
    <Section title="Webhooks">
      <Table
        label="Webhook deliveries"
        columns={columns}
        source={{ rows: history.deliveries, error: undefined, onRetry: () => undefined }}
        keyOf={({ deliveryId }) => deliveryId}
        empty={null}
      />
    </Section>
  );
}

const deliveryWords = {
  pending: 'On its way',
  succeeded: 'Delivered',
  failed: 'Failed',
  skipped: 'Skipped',
} as const;
