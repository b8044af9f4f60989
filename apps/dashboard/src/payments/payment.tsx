import type { PaymentException } from '@florin/protocol/exception.ts';
import type { SessionView } from '@florin/protocol/session.ts';
import { useEffect, useState } from 'react';
import { serviceNow } from '../api/service-clock.ts';
import { useRead } from '../api/use-call.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { useParam } from '../app/use-param.ts';
import { exceptionState } from '../exceptions/exception-state.ts';
import { Badge } from '../ui/badge.tsx';
import { buttonClass } from '../ui/button.tsx';
import { exceptionText, isOfDeposit } from '../ui/exception-text.ts';
import { exactTime, formatToken, formatUsd, parseTime } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { Card, PageHeader, Section, SkeletonPage } from '../ui/page.tsx';
import { receivedText } from '../ui/received-text.ts';
import { SessionStatusBadge } from '../ui/session-status.tsx';
import { Failed } from '../ui/states.tsx';
import { Id, Tokens } from '../ui/value.tsx';
import { MoneyWay } from './money-way.tsx';
import { PaymentActions } from './payment-actions.tsx';
import { PaymentDetails } from './payment-details.tsx';
import { PaymentItems } from './payment-items.tsx';
import { PaymentDeliveries, PaymentRefunds } from './payment-lists.tsx';
import { delayReason } from './payment-words.ts';
import { Timeline } from './timeline.tsx';
import type { PaymentHistory, PaymentToken } from './types.ts';

/** Payments move by themselves until they are settled, so the page follows them. */
const followMs = 4_000;
const restingStatuses = new Set(['completed', 'expired', 'cancelled']);

/** One payment: where its money is, everything that happened, and what can be done. */
export default function Payment() {
  const sessionId = useParam('sessionId');
  const [isMoving, setMoving] = useState(true);
  const follow = isMoving ? { everyMs: followMs } : {};
  const read = useRead('GET /session/:sessionId', { params: { sessionId } }, follow);
  const history = useRead('GET /session/history/:sessionId', { params: { sessionId } }, follow);
  const tokens = useRead('GET /token/list', {});
  const view = read.data;
  if (view !== undefined && restingStatuses.has(view.session.status) === isMoving)
    setMoving(!restingStatuses.has(view.session.status));
  const { refetch } = history;
  // A history that was read at the same moment as the end may lack the last event.
  useEffect(() => {
    if (!isMoving) void refetch();
  }, [isMoving, refetch]);
  if (view === undefined) {
    if (read.error !== null) return <Failed error={read.error} onRetry={() => void read.refetch()} />;
    return (
      <>
        <PageHeader title="Payment" description={<Reference sessionId={sessionId} />} />
        <SkeletonPage aside />
      </>
    );
  }
  const tokenOf = (tokenId: string) => tokens.data?.tokens.find((token) => token.tokenId === tokenId);
  return (
    <Loaded
      view={view}
      history={history.data}
      readHistory={async () => (await history.refetch()).data}
      tokenOf={tokenOf}
      tokens={tokens.data?.tokens ?? []}
    />
  );
}

interface LoadedProps {
  readonly view: SessionView;
  readonly history: PaymentHistory | undefined;
  readonly readHistory: () => Promise<PaymentHistory | undefined>;
  readonly tokenOf: (tokenId: string) => PaymentToken | undefined;
  readonly tokens: readonly PaymentToken[];
}

function Loaded({ view, history, readHistory, tokenOf, tokens }: LoadedProps) {
  const { session, transaction } = view;
  // During an update a web process of the version before may answer, which does not have it.
  const doubt = history?.doubt ?? '';
  const payerName = history?.isDeposit === true ? 'Refund address' : 'Payer';
  // What came to a payment that ended unpaid is told also when it is gone.
  const isUnpaid = session.status === 'expired' || session.status === 'cancelled';
  const told = history?.exceptions.filter(({ status }) => isUnpaid || status === 'open') ?? [];
  return (
    <>
      <PageHeader
        title={`Payment of ${formatUsd(session.amount)}`}
        badge={
          doubt === '' || isUnpaid ? (
            <SessionStatusBadge {...view} />
          ) : (
            <Badge tone="bad">{doubtTexts[doubt].state}</Badge>
          )
        }
        description={<Reference sessionId={session.sessionId} />}
        actions={<PaymentActions {...{ view, history, readHistory, payerName, tokenOf }} />}
      />
      <div className="grid gap-3 not-empty:mb-6">
        {doubt !== '' && (
          <Notice tone="bad" title={doubtTexts[doubt].title}>
            {doubt === 'lost' && isUnpaid ? endedText : doubtTexts[doubt].text}
          </Notice>
        )}
        {doubt === '' && session.pendingReason !== '' && (
          <Notice tone="warn" title="The settlement is delayed">
            {delayReason(session.pendingReason)} Florin tries again by itself.{' '}
            <EndOfTrying by={history?.settleBy} />
          </Notice>
        )}
        {told.map((exception) => (
          <ExceptionNotice
            key={exception.exceptionId}
            exception={exception}
            token={tokenOf(exception.tokenId)}
          />
        ))}
        {view.deposits?.map((deposit) => (
          <Notice
            key={`${deposit.tokenId}${deposit.payUntil}`}
            tone="info"
            title={
              deposit.missingInToken === '0'
                ? 'The whole payment has arrived'
                : 'A part of the payment has arrived'
            }
          >
            {receivedText(deposit)} by transfer
            {deposit.missingInToken === '0' ? (
              ', and will count once it is final.'
            ) : (
              <>
                ;{' '}
                <Tokens units={deposit.missingInToken} decimals={deposit.decimals} symbol={deposit.symbol} />{' '}
                are missing.
              </>
            )}
          </Notice>
        ))}
      </div>
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0 max-lg:contents">
          <div className="min-w-0">
            {transaction !== undefined && doubt !== 'lost' && (
              <Section title="The way of the money">
                <MoneyWay view={view} payerName={payerName} tokenOf={tokenOf} />
              </Section>
            )}
            <Section title="What was bought">
              <PaymentItems view={doubt === 'lost' ? { session } : view} />
            </Section>
          </div>
          <div className="min-w-0 max-lg:order-2 lg:mt-8">
            <Section title="Details">
              <PaymentDetails
                view={view}
                payerName={payerName}
                mails={history?.mails ?? []}
                tokenOf={tokenOf}
              />
            </Section>
            <PaymentRefunds history={history} />
            <PaymentDeliveries history={history} />
          </div>
        </div>
        <aside aria-label="What happened" className="min-w-0 max-lg:order-1">
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

const doubtTexts = {
  lost: {
    state: 'Taken back',
    title: 'The chain took this payment back',
    text:
      'A reorganisation removed its block, so it is not paid now: deliver nothing for it. The payer was told the same. If the same ' +
      'transaction comes back, everything goes on by itself.',
  },
  halted: {
    state: 'Being checked',
    title: 'This payment is being checked',
    text:
      'Its chain is halted, and the operator finds out whether it still has the payment. Deliver nothing for it until then. Nothing of it ' +
      'is settled or refunded meanwhile.',
  },
} as const;

const endedText =
  'A reorganisation removed its block, and it did not come back by its deadline: the payer has the money, and this order was not paid. ' +
  'Ask for a new payment.';

/** When a payment that cannot be settled goes back. */
function EndOfTrying({ by = '' }: { readonly by: string | undefined }) {
  const end = parseTime(by);
  return end !== undefined && `What is not settled by ${exactTime(end)} goes back to its payer.`;
}

/** What came that is no payment, with the exception that says what becomes of it. */
function ExceptionNotice({
  exception,
  token,
}: {
  readonly exception: PaymentException;
  readonly token: PaymentToken | undefined;
}) {
  const isOpen = exception.status === 'open';
  const { title, what } = exceptionText(exception);
  return (
    <Notice
      tone={isOpen ? 'warn' : 'info'}
      title={
        isOfDeposit(exception.kind) && token !== undefined
          ? `${title}: ${formatToken(exception.amountInToken, token)}`
          : title
      }
      action={
        <ScreenLink
          path="exceptions"
          search={{ exception: exception.exceptionId, ...(isOpen ? {} : { tab: 'resolved' }) } as never}
          className={buttonClass('plain', 'small')}
        >
          See the exception
        </ScreenLink>
      }
    >
      {isOpen ? what : `${what} ${exceptionState(exception, new Date(serviceNow())).next}`}
    </Notice>
  );
}

/** The payer's page and receipt call it by the same word. */
function Reference({ sessionId }: { readonly sessionId: string }) {
  return (
    <>
      Reference <Id id={sessionId} isWhole />
    </>
  );
}
