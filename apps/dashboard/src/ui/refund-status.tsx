import type { RefundStatus } from '@florin/protocol/refund.ts';
import { Badge, type Tone } from './badge.tsx';

const statuses: Readonly<Record<RefundStatus, { readonly tone: Tone; readonly text: string }>> = {
  requires_signature: { tone: 'warn', text: 'Waits for your wallet' },
  pending: { tone: 'info', text: 'On its way' },
  completed: { tone: 'good', text: 'Refunded' },
  failed: { tone: 'bad', text: 'Failed' },
  cancelled: { tone: 'neutral', text: 'Withdrawn' },
};

/** The status of a refund in the words of the dashboard. */
export function RefundStatusBadge({ status }: { readonly status: RefundStatus }) {
  const { tone, text } = statuses[status];
  return <Badge tone={tone}>{text}</Badge>;
}
