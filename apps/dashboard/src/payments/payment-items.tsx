import type { SessionView } from '@florin/protocol/session.ts';
import { Card } from '../ui/page.tsx';
import { Picture } from '../ui/picture.tsx';
import { Usd } from '../ui/value.tsx';

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
        <div>
          <dt className="text-soft">Amount</dt>
          <dd>
            <Usd micro={session.amount} />
          </dd>
        </div>
        {transaction !== undefined && (
          <>
            <div>
              <dt className="text-soft">
                {session.feeModel === 1 ? 'Fee, paid by you' : 'Fee, paid by the payer'}
              </dt>
              <dd>
                <Usd micro={transaction.feeValue} />
              </dd>
            </div>
            <div>
              <dt className="text-soft">The payer paid</dt>
              <dd>
                <Usd micro={transaction.totalValue} />
              </dd>
            </div>
            <div className="font-semibold">
              <dt>You receive</dt>
              <dd>
                <Usd micro={transaction.netValue} />
              </dd>
            </div>
          </>
        )}
        {session.refundedAmount > 0 && (
          <div>
            <dt className="text-soft">Refunded</dt>
            <dd>
              <Usd micro={session.refundedAmount} />
            </dd>
          </div>
        )}
      </dl>
    </Card>
  );
}
