import { classNames } from '../ui/class-names.ts';
import { formatNumber } from '../ui/format.ts';
import { SkeletonFacts } from '../ui/page.tsx';
import { Address, Time } from '../ui/value.tsx';
import { timelineEntries } from './timeline-entries.ts';
import type { PaymentHistory, PaymentToken } from './types.ts';

/** Everything that happened, oldest first: the order’s states, and the transactions with their blocks. */
export function Timeline({
  history,
  tokens,
}: {
  readonly history: PaymentHistory | undefined;
  readonly tokens: readonly PaymentToken[];
}) {
  if (history === undefined) return <SkeletonFacts lines={5} />;
  const entries = timelineEntries(history, tokens);
  return (
    <ol>
      {entries.map(({ key, at, title, transaction }, index) => (
        <li key={key} className="relative pb-4 pl-6 last:pb-0">
          {index < entries.length - 1 && (
            <span aria-hidden className="absolute top-3 bottom-0 left-[5px] w-px bg-line-strong" />
          )}
          <span
            aria-hidden
            className={classNames(
              'absolute top-[5px] left-0 size-[11px] rounded-full border-2 border-accent',
              index === entries.length - 1 ? 'bg-accent' : 'bg-raised',
            )}
          />
          <p className="font-medium">{title}</p>
          <div className="text-sm text-soft">
            <Time time={at} isWhole />
            {transaction !== undefined && (
              <>
                <p>
                  {transaction.network}, block {formatNumber(transaction.blockNumber)},{' '}
                  {transaction.isFinal ? 'final' : 'not final yet'}
                </p>
                <Address address={transaction.txHash} href={transaction.href} />
              </>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}
