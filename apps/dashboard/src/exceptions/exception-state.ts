import type { PaymentException } from '@florin/protocol/exception.ts';
import type { Tone } from '../ui/badge.tsx';
import { isOfDeposit } from '../ui/exception-text.ts';
import { parseTime } from '../ui/format.ts';

export interface ExceptionState {
  readonly tone: Tone;
  readonly text: string;
  /** What happens next to the money, in sentences. */
  readonly next: string;
  /** The end of the time to decide, after which the money goes back; undefined when no time is known. */
  readonly by: Date | undefined;
  /** Whether the merchant can still accept the money or return it. */
  readonly canDecide: boolean;
}

/** Whether the merchant's wallet has the money of an open exception, and signs its return. */
export function isToReturn({ kind, status }: Pick<PaymentException, 'kind' | 'status'>): boolean {
  return kind === 'duplicate_settled' && status === 'open';
}

/** Where an exception stands, and what becomes of it. */
export function exceptionState(exception: PaymentException, now: Date): ExceptionState {
  const { kind, status, decision, resolvedTx, isGone } = exception;
  const end = parseTime(exception.decideBy);
  if (isGone)
    return {
      ...{ tone: 'neutral', text: 'Gone', by: undefined, canDecide: false },
      next: 'The chain took the money back: no block has it any more, so nothing goes back to the payer. If it comes again, this opens again.',
    };
  if (status === 'resolved') {
    if (kind === 'unsettled' && resolvedTx !== '')
      return {
        ...{ tone: 'good', text: 'Settled or back', by: undefined, canDecide: false },
        next: 'The payment was settled, or went back to its payer: its timeline says which.',
      };
    if (kind === 'duplicate' && resolvedTx !== '')
      return {
        ...{ tone: 'good', text: 'Went back', by: undefined, canDecide: false },
        next: 'The money is back with its payer. If it was settled to you first, an exception of its own says so.',
      };
    const isBack = resolvedTx !== '' || kind === 'refunded' || kind === 'reclaimed';
    const isAccepted = decision === 'accept' && resolvedTx !== '';
    const text = isAccepted ? 'Became the payment' : isBack ? 'Went back' : 'Marked as resolved';
    const next = isAccepted
      ? 'The money was accepted as the payment.'
      : isBack
        ? 'The money is back with its payer.'
        : isOfDeposit(kind)
          ? 'It was marked as resolved. Money that is still at its deposit address goes back to its payer.'
          : 'It was marked as resolved. There is nothing left to do.';
    return { tone: 'good', text, next, by: undefined, canDecide: false };
  }
  if (decision === 'accept')
    return {
      ...{ tone: 'info', text: 'Accepted', canDecide: false },
      next: 'The money becomes the payment, usually within minutes. The session is paid when the chain shows it.',
      by: undefined,
    };
  if (decision === 'refund')
    return {
      ...{ tone: 'info', text: 'Goes back', canDecide: false },
      next: 'You have chosen to return it. The contract releases the money once the time for late payments is over.',
      by: end,
    };
  if (end !== undefined && end > now)
    return {
      ...{ tone: 'warn', text: 'Decide', canDecide: true },
      next: 'Accept the money as the payment, or return it. Without a decision it goes back by itself.',
      by: end,
    };
  if (kind === 'unsettled')
    return {
      ...{ tone: 'warn', text: 'Waits', canDecide: false },
      next: 'The operator is told, too. Ask them what holds it up. It resolves by itself when the payment is settled or goes back.',
      by: undefined,
    };
  if (isToReturn(exception))
    return {
      ...{ tone: 'warn', text: 'Return it', canDecide: false },
      next: 'The money is in your wallet, and no time is set. Return it: your wallet signs, and the gateway pays its payer. This is resolved once all of it is back.',
      by: undefined,
    };
  return {
    ...{ tone: 'info', text: 'Goes back', canDecide: false },
    next: 'The money goes back to its payer by itself, usually within minutes. You have nothing to do.',
    by: undefined,
  };
}
