import type { PaymentException } from '@florin/protocol/exception.ts';
import type { SessionDeposit, SessionStatus } from '@florin/protocol/session.ts';
import type { PaymentTransaction } from '@florin/protocol/transaction.ts';
import { Badge, type Tone } from './badge.tsx';
import { cameText, receivedText, refundedText } from './received-text.ts';

const statuses: Readonly<Record<SessionStatus, { readonly tone: Tone; readonly text: string }>> = {
  initialized: { tone: 'neutral', text: 'Open' },
  paid: { tone: 'info', text: 'Paid' },
  settling: { tone: 'info', text: 'Settling' },
  completed: { tone: 'good', text: 'Settled' },
  settlement_pending: { tone: 'warn', text: 'Settlement delayed' },
  expired: { tone: 'neutral', text: 'Expired' },
  cancelled: { tone: 'neutral', text: 'Cancelled' },
};

/** The status of a session in the words of the dashboard. */
export function sessionStatusText(status: SessionStatus): string {
  return statuses[status].text;
}

interface StatusProps {
  readonly session: {
    readonly status: SessionStatus;
    readonly pendingReason: string;
    readonly initiateTx: string;
    readonly amount: number;
    readonly refundedAmount: number;
  };
  readonly transaction?: Pick<PaymentTransaction, 'totalValue' | 'addedValue'> | undefined;
  /** What has arrived while the payment is incomplete. */
  readonly deposits?: readonly SessionDeposit[] | undefined;
  /** What came to a session that ended unpaid, or beside its payment. */
  readonly exceptions?: readonly PaymentException[] | undefined;
}

/**
 * The status of a session as a badge. A payment that was seen but is not final yet is told apart from an open session, and
 * so are a part of a payment, and money that went back from a settled one.
 */
export function SessionStatusBadge({ session, transaction, deposits = [] }: StatusProps) {
  const { status, pendingReason, initiateTx, refundedAmount } = session;
  if (pendingReason === 'payment_reorged') return <Badge tone="bad">Taken back</Badge>;
  if (refundedAmount > 0) return <Badge tone="neutral">{refundedText(session, transaction)}</Badge>;
  if (status === 'initialized' && initiateTx !== '') return <Badge tone="info">Payment seen</Badge>;
  if (deposits.length > 0)
    return (
      <Badge tone="info">
        {deposits.some(({ missingInToken }) => missingInToken === '0') ? 'Received' : 'Part received'}
      </Badge>
    );
  const { tone, text } = statuses[status];
  return <Badge tone={tone}>{text}</Badge>;
}

/** The badge, and below it what has arrived of an incomplete payment, or came to one that ended unpaid or beside a payment. */
export function SessionStatusLines({
  session,
  transaction,
  deposits = [],
  exceptions = [],
  tokenOf,
}: StatusProps & {
  readonly tokenOf: (tokenId: string) => { readonly symbol: string; readonly decimals: number } | undefined;
}) {
  return (
    <>
      <SessionStatusBadge session={session} transaction={transaction} deposits={deposits} />
      {deposits.map((deposit) => (
        <span key={`${deposit.tokenId}${deposit.addressEnd}`} className="block w-36 text-sm text-soft">
          {receivedText(deposit)}
        </span>
      ))}
      {exceptions.map((exception) => (
        <span key={exception.exceptionId} className="block w-36 text-sm text-soft">
          {cameText(exception, tokenOf(exception.tokenId))}
        </span>
      ))}
    </>
  );
}
