import type { SessionView } from '@florin/protocol/session.ts';
import { formatNumber } from '../ui/format.ts';
import { Card } from '../ui/page.tsx';
import { Picture } from '../ui/picture.tsx';
import { Usd } from '../ui/value.tsx';
import { isReturnedUnsettled } from './payment-words.ts';

/** What was bought, and how its price becomes what the merchant receives. */
export function PaymentItems({ view: { session, transaction } }: { readonly view: SessionView }) {
  return (
    <Card className="divide-y divide-line px-4 md:px-5">
      {session.lineItems.items.map((item) => (
        <div key={item.lineItemId} className="flex items-center gap-3 py-3">
          {(item.productData?.imageUrl ?? '') !== '' && <Picture url={item.productData?.imageUrl ?? ''} />}
          <div className="min-w-0 flex-1">
            <p className="truncate font-medium">{item.productData?.productName ?? 'Amount'}</p>
            <p className="text-sm text-soft">
              {item.quantity} × <Usd micro={item.unitPrice} />
            </p>
          </div>
          <Usd micro={item.unitPrice * item.quantity} className="font-medium" />
        </div>
      ))}
      <dl className="py-3 [&>div]:flex [&>div]:justify-between [&>div]:py-0.5">
        <Line name="Amount" micro={session.amount} />
        {transaction !== undefined && <Arithmetic view={{ session, transaction }} />}
        {session.refundedAmount > 0 && <Line name="Refunded" micro={session.refundedAmount} />}
        {isReturnedUnsettled(session) && <Line name="You receive" micro={0} isResult />}
      </dl>
    </Card>
  );
}

/** From the amount to what the merchant receives. The fee comes off it, or is added to what the payer pays. */
function Arithmetic({
  view: { session, transaction },
}: {
  readonly view: Required<Pick<SessionView, 'session' | 'transaction'>>;
}) {
  const { feeValue, totalValue, addedValue, netValue, paymentValue } = transaction;
  if (isReturnedUnsettled(session))
    return <Line name="The payer paid, and has it back" micro={totalValue - addedValue} />;
  const rate = paymentValue === 0 ? '' : ` of ${rateText(feeValue / paymentValue)}`;
  const isOnTop = session.feeModel !== 1;
  const fee = (
    <Line
      name={`Fee${rate}, paid by ${isOnTop ? 'the payer' : 'you'}`}
      micro={feeValue}
      sign={isOnTop ? '+' : '−'}
    />
  );
  const added = addedValue > 0 && (
    <Line name="The operator added" micro={addedValue} sign={isOnTop ? '−' : '+'} />
  );
  return (
    <>
      {isOnTop && fee}
      {isOnTop && added}
      <Line name="The payer paid" micro={totalValue - addedValue} />
      {!isOnTop && added}
      {!isOnTop && fee}
      <Line name={session.completeTx === '' ? 'You receive' : 'You received'} micro={netValue} isResult />
    </>
  );
}

/** The service rounds a fee up, so the rate of a small one is inexact beyond its digits. */
const maxRateDigits = 3;

function rateText(rate: number): string {
  return formatNumber(rate, { style: 'percent', maximumFractionDigits: maxRateDigits });
}

function Line({
  name,
  micro,
  sign = '',
  isResult = false,
}: {
  readonly name: string;
  readonly micro: number;
  readonly sign?: string;
  readonly isResult?: boolean;
}) {
  return (
    <div className={isResult ? 'font-semibold' : ''}>
      <dt className={isResult ? '' : 'text-soft'}>{name}</dt>
      <dd className="whitespace-nowrap">
        {sign !== '' && <span className="text-soft">{sign} </span>}
        <Usd micro={micro} />
      </dd>
    </div>
  );
}
