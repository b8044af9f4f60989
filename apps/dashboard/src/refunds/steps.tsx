import { Check, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { Address } from '../ui/value.tsx';
import type { RefundStep, SendProgress } from './send-refund.ts';

/** The transactions of a refund in order, and how far the wallet is. */
export function Steps({
  steps,
  progress,
  sentHash,
  isRunning,
  explorer,
}: {
  readonly steps: readonly RefundStep[];
  readonly progress: SendProgress | undefined;
  readonly sentHash: string;
  readonly isRunning: boolean;
  /** Of the chain; empty where there is none. */
  readonly explorer: string;
}) {
  const current = progress?.step ?? (sentHash === '' ? 0 : steps.length);
  return (
    <ol aria-label="Steps" className="grid gap-2">
      {steps.map(({ title, tx }, index) => {
        const isLast = index === steps.length - 1;
        const hash = isLast ? sentHash : (progress?.hashes[index] ?? '');
        const isDone = index < current || (isLast && sentHash !== '' && !isRunning);
        const isNow = isRunning && progress !== undefined && index === current;
        return (
          <li key={tx.data} className="flex items-start gap-3">
            <StepMark isDone={isDone} isNow={isNow}>
              {index + 1}
            </StepMark>
            <span className="min-w-0 flex-1">
              <span className={isNow ? 'font-medium' : isDone ? 'text-soft' : ''}>{title}</span>
              {isDone && hash === '' && !isLast && <span className="text-sm text-soft"> (done)</span>}
              {hash !== '' && (
                <span className="block">
                  <Address address={hash} href={explorer === '' ? undefined : `${explorer}/tx/${hash}`} />
                </span>
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

function StepMark({
  isDone,
  isNow,
  children,
}: {
  readonly isDone: boolean;
  readonly isNow: boolean;
  readonly children: ReactNode;
}) {
  return (
    <span
      className={`flex size-5 shrink-0 items-center justify-center rounded-full text-xs font-medium ${
        isDone ? 'bg-good-tint text-good' : isNow ? 'bg-tint text-accent' : 'bg-sunken text-soft'
      }`}
    >
      {isDone ? (
        <Check aria-label="Done" className="size-3.5" />
      ) : isNow ? (
        <LoaderCircle aria-label="Now" className="size-3.5 animate-spin" />
      ) : (
        children
      )}
    </span>
  );
}
