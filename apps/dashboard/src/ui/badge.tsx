import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

export type Tone = 'neutral' | 'good' | 'bad' | 'warn' | 'info';

const tones: Readonly<Record<Tone, string>> = {
  neutral: 'bg-sunken text-soft ring-line-strong',
  good: 'bg-good-tint text-good ring-good/20',
  bad: 'bg-bad-tint text-bad ring-bad/20',
  warn: 'bg-warn-tint text-warn ring-warn/20',
  info: 'bg-info-tint text-info ring-info/20',
};

/** A short state, never told by colour alone. */
export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return (
    <span
      className={classNames(
        'inline-flex h-5 items-center gap-1 rounded-md px-1.5 text-xs font-medium whitespace-nowrap ring-1 ring-inset',
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}
