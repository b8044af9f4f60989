import type { SessionView } from '@florin/protocol/session.ts';
import { Ban, ExternalLink, Link2, Receipt, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { copyText } from '../ui/copy-text.ts';
import { toast } from '../ui/toast.tsx';
import { RefundDialog } from './refund-dialog.tsx';
import type { PaymentHistory, PaymentToken } from './types.ts';

/** What the member may do with a payment. */
export function PaymentActions({
  view,
  payerName,
  tokenOf,
  history,
  readHistory,
}: {
  readonly view: SessionView;
  /** What the payer's address is. */
  readonly payerName: string;
  readonly tokenOf: (tokenId: string) => PaymentToken | undefined;
  readonly history: PaymentHistory | undefined;
  readonly readHistory: () => Promise<PaymentHistory | undefined>;
}) {
  const { session, transaction } = view;
  const { role } = useMerchant();
  const [isRefunding, setRefunding] = useState(false);
  const [isCancelling, setCancelling] = useState(false);
  const cancel = useWrite('POST /session/checkout/cancel', {
    onDone: () => {
      toast('Payment cancelled');
      setCancelling(false);
    },
  });
  const isOpen = session.status === 'initialized';
  const waiting = waitingRefunds(history);
  const { totalValue, addedValue } = transaction ?? { totalValue: 0, addedValue: 0 };
  const left = totalValue - addedValue - session.refundedAmount;
  const isUnderWay = history?.refunds.some(({ status }) => status === 'pending') ?? true;
  // The payer has the money of a payment that its chain took back.
  const mayRefund =
    transaction !== undefined &&
    left > 0 &&
    !isUnderWay &&
    history?.doubt !== 'lost' &&
    mayDo(role, 'refunds:write');
  return (
    <>
      {isOpen && session.paymentUrl !== '' && (
        <>
          <Button icon={<Link2 />} onClick={() => copyText(session.paymentUrl, 'Link copied')}>
            Copy link
          </Button>
          <a href={session.paymentUrl} target="_blank" rel="noreferrer" className={buttonClass('plain')}>
            <ExternalLink aria-hidden className="size-4" />
            Open page
          </a>
        </>
      )}
      {session.receiptId !== '' && session.paymentUrl !== '' && (
        <a href={session.paymentUrl} target="_blank" rel="noreferrer" className={buttonClass('plain')}>
          <Receipt aria-hidden className="size-4" />
          Receipt
        </a>
      )}
      {isOpen && mayDo(role, 'checkout_sessions:write') && (
        <Button
          icon={<Ban />}
          disabled={session.signedOnce === 1}
          title={session.signedOnce === 1 ? 'A payer has begun to pay. It ends by itself.' : undefined}
          onClick={() => setCancelling(true)}
        >
          Cancel
        </Button>
      )}
      {mayRefund && (
        <Button icon={<Undo2 />} onClick={() => setRefunding(true)}>
          Refund
        </Button>
      )}
      <RefundDialog
        isOpen={isRefunding}
        onClose={() => setRefunding(false)}
        payment={view}
        payerName={payerName}
        token={tokenOf(session.paidToken)}
        left={left - waiting.reduce((sum, { amount }) => sum + amount, 0)}
        isSettled={session.status === 'completed'}
        waiting={waiting}
        readWaiting={async () => waitingRefunds(await readHistory())}
      />
      <Confirm
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
        title="Cancel this payment?"
        act="Cancel the payment"
        onConfirm={() => cancel.run({ body: { sessionId: session.sessionId } })}
        write={cancel}
        isDangerous
      >
        <p>The page then shows that the order was cancelled. It can no longer be paid.</p>
      </Confirm>
    </>
  );
}

/** Those of the payment that paid the session: a second one is returned by its exception. */
function waitingRefunds(history: PaymentHistory | undefined): PaymentHistory['refunds'] {
  const isWaiting = ({ status, exceptionId }: PaymentHistory['refunds'][number]) =>
    status === 'requires_signature' && exceptionId === '';
  return history?.refunds.filter(isWaiting) ?? [];
}
