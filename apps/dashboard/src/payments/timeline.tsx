import { useState } from 'react';
import { ScreenLink } from '../app/screen-link.tsx';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { formatNumber } from '../ui/format.ts';
import { SkeletonFacts } from '../ui/page.tsx';
import { Address, Time } from '../ui/value.tsx';
import { type TimelineEntry, timelineEntries } from './timeline-entries.ts';
import type { PaymentHistory, PaymentToken } from './types.ts';

/** A settlement that is tried again and again makes a long history: its beginning and its end are shown. */
const mostEntries = 14;
const firstEntries = 5;
const lastEntries = 6;

/** Everything that happened, oldest first: the order’s states, and the transactions with their blocks. */
export function Timeline({
  history,
  tokens,
}: {
  readonly history: PaymentHistory | undefined;
  readonly tokens: readonly PaymentToken[];
}) {
  const [isWhole, setWhole] = useState(false);
  if (history === undefined) return <SkeletonFacts lines={5} />;
  const entries = timelineEntries(history, tokens);
  const isCut = !isWhole && entries.length > mostEntries;
  const last = entries.at(-1);
  const shown = (part: readonly TimelineEntry[]) =>
    part.map((entry) => <Entry key={entry.key} entry={entry} isLast={entry === last} />);
  if (!isCut) return <ol>{shown(entries)}</ol>;
  return (
    <ol>
      {shown(entries.slice(0, firstEntries))}
      <li className="relative pb-4 pl-6">
        <Line />
        <Button size="small" onClick={() => setWhole(true)}>
          Show {formatNumber(entries.length - firstEntries - lastEntries)} more
        </Button>
      </li>
      {shown(entries.slice(-lastEntries))}
    </ol>
  );
}

function Line() {
  return <span aria-hidden className="absolute top-3 bottom-0 left-[5px] w-px bg-line-strong" />;
}

function Entry({
  entry: { at, title, transaction, exceptionId },
  isLast,
}: {
  readonly entry: TimelineEntry;
  readonly isLast: boolean;
}) {
  return (
    <li className="relative pb-4 pl-6 last:pb-0">
      {!isLast && <Line />}
      <span
        aria-hidden
        className={classNames(
          'absolute top-[5px] left-0 size-[11px] rounded-full border-2 border-accent',
          isLast ? 'bg-accent' : 'bg-raised',
        )}
      />
      <p className="font-medium">{title}</p>
      <div className="text-sm text-soft">
        <Time time={at} isWhole />
        {exceptionId !== undefined && (
          <ScreenLink
            path="exceptions"
            search={{ exception: exceptionId } as never}
            className="block text-accent underline-offset-2 hover:underline"
          >
            See the exception
          </ScreenLink>
        )}
        {transaction !== undefined && (
          <>
            <p>
              {transaction.network}, block {formatNumber(transaction.blockNumber)},{' '}
              {transaction.isGone ? 'which is gone' : transaction.isFinal ? 'final' : 'not final yet'}
            </p>
            <Address address={transaction.txHash} href={transaction.href} />
          </>
        )}
      </div>
    </li>
  );
}
