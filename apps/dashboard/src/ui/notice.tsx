import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { ApiFailure, sayFailure } from '../api/failure.ts';
import type { Tone } from './badge.tsx';
import { classNames } from './class-names.ts';

const tones: Readonly<Record<Tone, string>> = {
  neutral: 'bg-sunken text-ink [&>svg]:text-soft',
  good: 'bg-good-tint text-ink [&>svg]:text-good',
  bad: 'bg-bad-tint text-ink [&>svg]:text-bad',
  warn: 'bg-warn-tint text-ink [&>svg]:text-warn',
  info: 'bg-info-tint text-ink [&>svg]:text-info',
};
const icons = { neutral: Info, good: CircleCheck, bad: CircleAlert, warn: TriangleAlert, info: Info };

/** A message that belongs to what stands around it, with an act where there is one. */
export function Notice({
  tone = 'neutral',
  title,
  children,
  action,
}: {
  readonly tone?: Tone;
  readonly title?: ReactNode;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  const Icon = icons[tone];
  return (
    <div className={classNames('flex items-start gap-2.5 rounded-lg p-3', tones[tone])}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <div className="flex min-w-0 flex-1 flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-48">
          {title !== undefined && <p className="font-medium">{title}</p>}
          {children !== undefined && <div className={title === undefined ? '' : 'text-soft'}>{children}</div>}
        </div>
        {action}
      </div>
    </div>
  );
}

/** The failure of an act; nothing when there is none, or when a field shows it. Beside the buttons it takes the focus. */
export function FailureNotice({
  error,
  fields = [],
}: {
  readonly error: unknown;
  /** Fields of the form that show their own errors. */
  readonly fields?: readonly string[];
}) {
  const frame = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each failure takes the focus again.
  useEffect(() => {
    if (frame.current?.closest('[data-acts]')) frame.current.focus();
  }, [error]);
  if (error === undefined || error === null) return null;
  if (error instanceof ApiFailure && fields.some((field) => error.param.split(/[.[]/, 1)[0] === field))
    return null;
  return (
    <div ref={frame} role="alert" tabIndex={-1} className="outline-none">
      <Notice tone="bad">
        {sayFailure(error)}
        {error instanceof ApiFailure && error.slug === 'internal' && (
          <span className="text-soft"> Request {error.requestId}</span>
        )}
      </Notice>
    </div>
  );
}
