import type { ReactNode } from 'react';
import { Badge } from '../ui/badge.tsx';
import { classNames } from '../ui/class-names.ts';
import { Notice } from '../ui/notice.tsx';
import type { RunbookName } from './runbook.ts';
import { RunbookLink } from './runbook-link.tsx';
import { type Trouble, troubles } from './trouble.ts';

/** What a colour says. */
export const toneWords = { bad: 'Failure', warn: 'Warning' } as const;

/** A badge in the colour of a trouble, with its runbook. */
export function TroubleBadge({
  trouble,
  runbook = troubles[trouble].runbook,
  isAtEnd = false,
  children,
}: {
  readonly trouble: Trouble;
  /** Where one case of the trouble has a section of its own. */
  readonly runbook?: RunbookName;
  /** In a column whose badges stand at its end. */
  readonly isAtEnd?: boolean;
  readonly children: ReactNode;
}) {
  const { tone } = troubles[trouble];
  return (
    <span
      data-trouble={trouble}
      className={classNames(
        'inline-flex flex-wrap items-center gap-x-3 gap-y-1',
        isAtEnd && 'flex-row-reverse',
      )}
    >
      <Badge tone={tone}>{children}</Badge>
      <RunbookLink name={runbook} />
    </span>
  );
}

/** A row of a list of troubles: its colour before it, and its runbook at its end. */
export function TroubleRow({
  trouble,
  children,
}: {
  readonly trouble: Trouble;
  readonly children: ReactNode;
}) {
  const { tone, runbook } = troubles[trouble];
  return (
    <li
      data-trouble={trouble}
      className="flex flex-wrap items-start gap-x-3 gap-y-1 px-4 py-3 md:items-center md:px-5"
    >
      <span className="w-16">
        <Badge tone={tone}>{toneWords[tone]}</Badge>
      </span>
      {children}
      <RunbookLink name={runbook} />
    </li>
  );
}

/** A text in the colour of a trouble, with its runbook. */
export function TroubleText({
  trouble,
  children,
}: {
  readonly trouble: Trouble;
  readonly children: ReactNode;
}) {
  const { tone, runbook } = troubles[trouble];
  return (
    <span data-trouble={trouble} className="inline-flex flex-wrap items-center justify-end gap-x-3 gap-y-1">
      <RunbookLink name={runbook} />
      <span className={classNames('break-words', tone === 'bad' ? 'font-medium text-bad' : 'text-warn')}>
        {children}
      </span>
    </span>
  );
}

/** A message about a trouble, with its runbook before its acts. */
export function TroubleNotice({
  trouble,
  title,
  action,
  children,
}: {
  readonly trouble: Trouble;
  readonly title: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  const { tone, runbook } = troubles[trouble];
  return (
    <div data-trouble={trouble}>
      <Notice
        tone={tone}
        title={title}
        action={
          <span className="flex items-center gap-3">
            <RunbookLink name={runbook} />
            {action}
          </span>
        }
      >
        {children}
      </Notice>
    </div>
  );
}

/** The worst of several troubles in its colour. Each of them stands below it with its runbook. */
export function WorstTrouble({
  found,
  sayWell,
  say,
}: {
  readonly found: readonly Trouble[];
  readonly sayWell: string;
  /** Names what is counted: failures, or warnings where nothing has failed. */
  readonly say: (count: number, tone: 'bad' | 'warn') => string;
}) {
  if (found.length === 0) return <Badge tone="good">{sayWell}</Badge>;
  const failures = found.filter((trouble) => troubles[trouble].tone === 'bad').length;
  const tone = failures > 0 ? 'bad' : 'warn';
  return <Badge tone={tone}>{say(failures > 0 ? failures : found.length, tone)}</Badge>;
}
