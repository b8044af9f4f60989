import type { SessionView } from '@florin/protocol/session.ts';
import { ArrowDown, ArrowRight, CircleCheck, LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { Card } from '../ui/page.tsx';
import { Address, Tokens, Usd } from '../ui/value.tsx';
import { isReturnedUnsettled, wayText } from './payment-words.ts';
import type { PaymentToken } from './types.ts';

/** Payer, Florin and merchant, with what went from one to the next. */
export function MoneyWay({
  view: { session, transaction },
  payerName,
  tokenOf,
}: {
  readonly view: SessionView;
  /** What the payer's address is. */
  readonly payerName: string;
  readonly tokenOf: (tokenId: string) => PaymentToken | undefined;
}) {
  if (transaction === undefined) return null;
  const paid = tokenOf(session.paidToken);
  const settled = tokenOf(session.settlementToken);
  const isDone = session.completeTx !== '';
  const isDirect = transaction.orderType === 1;
  const isReturned = isReturnedUnsettled(session);
  const way = isReturned
    ? 'The money went back to the payer before it was settled. No fee was taken.'
    : wayText(transaction.orderType, {
        paidOn: paid?.network ?? 'one network',
        settledOn: settled?.network ?? 'another',
      });
  return (
    <Card className="p-4">
      <div className="flex flex-col items-stretch gap-2 md:flex-row">
        <Stop title={payerName} place={paid?.network} wallet={transaction.from}>
          {paid === undefined ? (
            <Usd micro={transaction.totalValue - transaction.addedValue} />
          ) : (
            <Tokens units={transaction.paidAmountInToken} decimals={paid.decimals} symbol={paid.symbol} />
          )}
        </Stop>
        <Arrow />
        {!isDirect && !isReturned && (
          <>
            <Stop title="Fee" place="Gateway">
              <Usd micro={transaction.feeValue} />
            </Stop>
            <Arrow />
          </>
        )}
        {isReturned ? (
          <Stop title="Back with the payer" place={paid?.network} isEnd>
            <Usd micro={session.refundedAmount} />
          </Stop>
        ) : (
          <Stop
            title="You"
            place={settled && `${settled.symbol} on ${settled.network}`}
            wallet={transaction.to}
            isEnd
          >
            <span className="inline-flex items-center gap-1.5">
              <Usd micro={transaction.netValue} />
              {isDone ? (
                <CircleCheck aria-label="arrived" className="size-4 text-good" />
              ) : (
                <LoaderCircle aria-label="on its way" className="size-4 animate-spin text-faint" />
              )}
            </span>
          </Stop>
        )}
      </div>
      {way !== undefined && <p className="mt-3 text-sm text-soft">{way}</p>}
    </Card>
  );
}

function Stop({
  title,
  place,
  wallet,
  isEnd = false,
  children,
}: {
  readonly title: string;
  readonly place: string | undefined;
  readonly wallet?: string;
  readonly isEnd?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <div className={`min-w-0 rounded-lg px-3 py-2.5 md:flex-1 ${isEnd ? 'bg-tint' : 'bg-sunken'}`}>
      <p className="text-sm text-soft">
        {title}
        {place !== undefined && ` · ${place}`}
      </p>
      <p className="font-semibold">{children}</p>
      {wallet !== undefined && <Address address={wallet} />}
    </div>
  );
}

function Arrow() {
  return (
    <span aria-hidden className="self-center text-faint">
      <ArrowRight className="size-4 max-md:hidden" />
      <ArrowDown className="size-4 md:hidden" />
    </span>
  );
}
