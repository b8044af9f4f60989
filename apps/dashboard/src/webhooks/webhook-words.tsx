import type { DeliveryStatus } from '@florin/protocol/delivery-api.ts';
import { Badge, type Tone } from '../ui/badge.tsx';
import type { Hook } from './types.ts';

const hookStates: Readonly<Record<Hook['status'], { readonly tone: Tone; readonly text: string }>> = {
  active: { tone: 'good', text: 'Active' },
  inactive: { tone: 'neutral', text: 'Disabled' },
  paused: { tone: 'bad', text: 'Paused' },
};

export function HookBadge({ status }: { readonly status: Hook['status'] }) {
  const { tone, text } = hookStates[status];
  return <Badge tone={tone}>{text}</Badge>;
}

/** What is known of a delivery and of its latest attempts. */
interface DeliveryState {
  readonly status: DeliveryStatus;
  readonly nextAttemptAt: string | null;
  readonly attempts: readonly { readonly httpStatus: number | null; readonly error: string }[];
}

/** `isHeld`: the webhook is not active, so nothing is sent to it. */
export function DeliveryBadge({
  status,
  nextAttemptAt,
  attempts,
  isHeld,
}: DeliveryState & { readonly isHeld: boolean }) {
  if (status === 'succeeded') return <Badge tone="good">Delivered</Badge>;
  if (status === 'failed') return <Badge tone="bad">Failed</Badge>;
  if (status === 'skipped') return <Badge>Skipped</Badge>;
  if (isHeld) return <Badge>Waiting</Badge>;
  if (nextAttemptAt === null) return <Badge>Waits for the one before</Badge>;
  const isRetry = (attempts.at(-1)?.error ?? '') !== '';
  return isRetry ? <Badge tone="warn">Retrying</Badge> : <Badge tone="info">Sending</Badge>;
}

/** Whether a delivery waits for the time of its next attempt, and can be sent at once. */
export function isWaitingForTime({ status, nextAttemptAt, attempts }: DeliveryState): boolean {
  return status === 'pending' && nextAttemptAt !== null && attempts.length > 0;
}

/** What the receiver answered to one attempt, in a few words. */
export function answerText({ httpStatus, error }: DeliveryState['attempts'][number]): string {
  if (httpStatus !== null) return `Answered ${httpStatus}`;
  return error === '' ? 'No answer' : error;
}
