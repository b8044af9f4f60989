import type { EventType } from '@florin/protocol/event.ts';
import { classNames } from '../ui/class-names.ts';
import { parseTime } from '../ui/format.ts';
import { Skeleton } from '../ui/page.tsx';
import { Address, Time } from '../ui/value.tsx';
import type { PaymentHistory, PaymentToken } from './types.ts';

const eventWords: Partial<Record<EventType, string>> = {
  'session.created': 'Order opened',
  'session.payment_detected': 'Payment seen on the chain',
  'session.paid': 'Payment is final',
  'session.settling': 'Settlement sent',
  'session.completed': 'Settled to your wallet',
  'session.settlement_pending': 'Settlement delayed',
  'session.expired': 'Expired',
  'session.cancelled': 'Cancelled',
  'session.exception': 'Needs attention',
};

const chainWords: Readonly<Record<string, string>> = {
  Paid: 'Paid into the gateway',
  Settled: 'Gateway settled',
  PaidOut: 'Vault paid out',
  Refunded: 'Sent back to the payer',
  Reclaimed: 'Reclaimed by the payer',
};

interface Entry {
  readonly key: string;
  readonly at: string;
  readonly title: string;
  readonly transaction?: {
    readonly network: string;
    readonly blockNumber: number;
    readonly isFinal: boolean;
    readonly txHash: string;
    readonly href: string | undefined;
  };
}

function entriesOf(history: PaymentHistory, tokens: readonly PaymentToken[]): Entry[] {
  const events = history.events.map(({ eventId, type, at }) => ({
    key: eventId,
    at,
    title: (eventWords as Readonly<Record<string, string | undefined>>)[type] ?? type,
  }));
  const chain = history.chainEvents.map((event, index): Entry => {
    const token = tokens.find(({ chainId }) => chainId === event.chainId);
    const explorer = token?.explorer ?? '';
    return {
      key: `${event.txHash}${event.name}${index}`,
      at: event.at,
      title: chainWords[event.name] ?? event.name,
      transaction: {
        network: token?.network ?? `chain ${event.chainId}`,
        blockNumber: event.blockNumber,
        isFinal: event.isFinal,
        txHash: event.txHash,
        href: explorer === '' ? undefined : `${explorer}/tx/${event.txHash}`,
      },
    };
  });
  const timeOf = ({ at }: Entry) => parseTime(at)?.getTime() ?? 0;
  return [...events, ...chain].sort((one, other) => timeOf(one) - timeOf(other));
}

/** Everything that happened, oldest first: the order’s states, and the transactions with their blocks. */
export function Timeline({
  history,
  tokens,
}: {
  readonly history: PaymentHistory | undefined;
  readonly tokens: readonly PaymentToken[];
}) {
  if (history === undefined) return <Skeleton className="h-48" />;
  const entries = entriesOf(history, tokens);
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
              'absolute top-[5px] left-0 size-[11px] rounded-full border-2',
              transaction === undefined ? 'border-accent bg-raised' : 'border-line-strong bg-sunken',
              index === entries.length - 1 && 'border-accent bg-accent',
            )}
          />
          <div className="flex flex-wrap items-baseline justify-between gap-x-3">
            <span className="font-medium">{title}</span>
            <Time time={at} className="text-sm text-soft" />
          </div>
          {transaction !== undefined && (
            <div className="text-sm text-soft">
              <p>
                {transaction.network}, block {transaction.blockNumber.toLocaleString()},{' '}
                {transaction.isFinal ? 'final' : 'not final yet'}
              </p>
              <Address address={transaction.txHash} href={transaction.href} />
            </div>
          )}
        </li>
      ))}
    </ol>
  );
}
