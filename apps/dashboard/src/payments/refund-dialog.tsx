import type { SessionView } from '@florin/protocol/session.ts';
import { useRef, useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { ScreenLink, useGoTo } from '../app/screen-link.tsx';
import { parseUsd, typedUsd, usdFault } from '../ui/amount.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { useDraftGuard } from '../ui/draft-guard.tsx';
import { TextField } from '../ui/field.tsx';
import { formatUsd } from '../ui/format.ts';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import { Fact, Facts } from '../ui/page.tsx';
import { toast } from '../ui/toast.tsx';
import { UsdField } from '../ui/usd-field.tsx';
import { Address } from '../ui/value.tsx';
import type { PaymentHistory, PaymentToken } from './types.ts';

interface RefundProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly payment: SessionView;
  /** What the payer's address is. */
  readonly payerName: string;
  /** With which the payer paid; the refund is made in it. */
  readonly token: PaymentToken | undefined;
  /** Micro-USD that no refund is for. */
  readonly left: number;
  readonly isSettled: boolean;
  /** Refunds of the payment that wait for a signature. */
  readonly waiting: PaymentHistory['refunds'];
  /** Asks the service for them. */
  readonly readWaiting: () => Promise<PaymentHistory['refunds']>;
}

/** Refunds a payment. Before the settlement Florin returns the whole; afterwards the merchant's wallet signs. */
export function RefundDialog(props: RefundProps) {
  const { isOpen, onClose, left, isSettled, waiting } = props;
  const [isHeld, setHeld] = useState(false);
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Refund this payment" isHeld={isHeld}>
      <div className="grid gap-4">
        {waiting.map(({ refundId, amount }) => (
          <Notice
            key={refundId}
            tone="warn"
            title={`A refund of ${formatUsd(amount)} waits for your wallet`}
            action={
              <ScreenLink path={`refunds/${refundId}`} className={buttonClass('plain', 'small')}>
                Sign it
              </ScreenLink>
            }
          >
            {left > 0
              ? 'A new refund goes to the payer in addition to it.'
              : 'It covers all that is left of the payment.'}
          </Notice>
        ))}
        {left > 0 ? (
          <RefundForm {...props} key={String(isSettled)} onHold={setHeld} />
        ) : (
          <DialogActions>
            <Button onClick={onClose}>Close</Button>
          </DialogActions>
        )}
      </div>
    </Dialog>
  );
}

/** Where the money goes, and what the shop does not get back. */
function RefundFacts({
  payment: { session, transaction },
  payerName,
  token,
  isSettled,
}: Pick<RefundProps, 'payment' | 'payerName' | 'token' | 'isSettled'>) {
  const fee = transaction?.feeValue ?? 0;
  return (
    <Facts>
      <Fact name={`To the ${payerName.toLowerCase()}`}>
        <Address address={session.payer} />
      </Fact>
      <Fact name="In">{token === undefined ? session.paidToken : `${token.symbol} on ${token.network}`}</Fact>
      {isSettled && fee > 0 && <Fact name="Fee">{formatUsd(fee)} is not given back</Fact>}
    </Facts>
  );
}

function RefundForm({
  onClose,
  payment,
  payerName,
  token,
  left,
  isSettled,
  waiting,
  readWaiting,
  onHold,
}: RefundProps & { readonly onHold: (isHeld: boolean) => void }) {
  const goTo = useGoTo();
  const whole = typedUsd(left);
  const [typed, setTyped] = useState<string>();
  const [reason, setReason] = useState('');
  const [wrong, setWrong] = useState<string>();
  const [isOther, setOther] = useState(false);
  const amountField = useRef<HTMLDivElement>(null);
  const refund = useWrite('POST /refund/create', {
    onDone: ({ refundId, status }) => {
      guard.release();
      onClose();
      toast(
        status === 'requires_signature' ? 'Refund made: sign it with your wallet' : 'Refund is on its way',
      );
      goTo(`refunds/${refundId}`);
    },
  });
  const guard = useDraftGuard(reason !== '' || (typed ?? whole) !== whole, onClose);
  const run = async () => {
    const amount = parseUsd(typed ?? whole);
    const found = isSettled ? usdFault(typed ?? whole, { most: left }) : undefined;
    setWrong(found);
    if (found !== undefined) amountField.current?.querySelector('input')?.focus();
    if (found !== undefined || amount === undefined) return;
    onHold(true);
    // One that another tab or member has just made waits too: the reader sees it before a part of the rest comes on top.
    const isNew = ({ refundId }: { readonly refundId: string }) =>
      waiting.every((known) => known.refundId !== refundId);
    const isChanged = isSettled && (await readWaiting()).some(isNew);
    setOther(isChanged);
    const { sessionId } = payment.session;
    const body = { sessionId, ...(isSettled ? { amount } : {}), ...(reason === '' ? {} : { reason }) };
    if (!isChanged) await refund.run({ body });
    onHold(false);
  };
  return (
    <form
      className="grid gap-4"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      {isSettled ? (
        <>
          <div ref={amountField}>
            <UsdField
              label="Amount"
              value={typed ?? whole}
              onChange={(next) => {
                setTyped(next);
                setWrong(undefined);
              }}
              hint={`At most ${formatUsd(left)}`}
              most={left}
              said="The payer gets"
              error={wrong ?? fieldError(refund.error, 'amount')}
            />
          </div>
          <Notice tone="info" title="Your wallet sends this refund">
            The payment is settled, so the money is yours. On the next page your wallet signs the refund.
          </Notice>
        </>
      ) : (
        <Notice tone="info" title={`The payer gets the whole ${formatUsd(left)} back`}>
          The payment is not settled yet, so Florin returns it on chain, and takes no fee. It can take some
          minutes.
        </Notice>
      )}
      <RefundFacts payment={payment} payerName={payerName} token={token} isSettled={isSettled} />
      <TextField
        label="Reason"
        isOptional
        hint="For your own books. The payer does not see it."
        value={reason}
        onChange={setReason}
        maxLength={500}
        error={fieldError(refund.error, 'reason')}
      />
      {isOther && (
        <div role="alert">
          <Notice tone="warn" title="Another refund of this payment was just made">
            It stands above. Send yours as well only if the payer is to get both.
          </Notice>
        </div>
      )}
      <DialogActions notice={<FailureNotice error={refund.error} fields={['amount', 'reason']} />}>
        <CancelButton disabled={refund.isRunning} />
        <Button kind="primary" type="submit" isBusy={refund.isRunning}>
          {isSettled ? 'Go on to sign' : 'Refund'}
        </Button>
      </DialogActions>
      {guard.question}
    </form>
  );
}
