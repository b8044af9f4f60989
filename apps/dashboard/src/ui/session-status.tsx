import type { SessionStatus } from '@florin/protocol/session.ts';
import { Badge, type Tone } from './badge.tsx';

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

/**
 * The status of a session as a badge. A payment that was seen but is not final yet is told apart from an open session, and
 * money that went back from a settled one.
 */
export function SessionStatusBadge({
  session: { status, initiateTx, amount, refundedAmount },
}: {
  readonly session: {
    readonly status: SessionStatus;
    readonly initiateTx: string;
    readonly amount: number;
    readonly refundedAmount: number;
  };
}) {
  if (refundedAmount > 0)
    return <Badge tone="neutral">{refundedAmount < amount ? 'Partly refunded' : 'Refunded'}</Badge>;
  if (status === 'initialized' && initiateTx !== '') return <Badge tone="info">Payment seen</Badge>;
  const { tone, text } = statuses[status];
  return <Badge tone={tone}>{text}</Badge>;
}
