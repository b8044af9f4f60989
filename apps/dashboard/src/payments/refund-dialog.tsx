import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { useGoTo } from '../app/screen-link.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { exactDecimal, formatUsd, parseUsd } from '../ui/format.ts';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';

const microDigits = 6;

/** Refunds a payment. Before the settlement Florin returns the whole; afterwards the merchant's wallet signs. */
export function RefundDialog({
  isOpen,
  onClose,
  sessionId,
  left,
  isSettled,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly sessionId: string;
  /** Micro-USD that have not gone back yet. */
  readonly left: number;
  readonly isSettled: boolean;
}) {
  const goTo = useGoTo();
  const whole = exactDecimal(left, microDigits);
  const [typed, setTyped] = useState<string>();
  const [reason, setReason] = useState('');
  const amount = parseUsd(typed ?? whole);
  const refund = useWrite('POST /refund/create', {
    onDone: ({ refundId, status }) => {
      close();
      toast(
        status === 'requires_signature' ? 'Refund made: sign it with your wallet' : 'Refund is on its way',
      );
      goTo(`refunds/${refundId}`);
    },
  });
  const close = () => {
    setTyped(undefined);
    setReason('');
    refund.reset();
    onClose();
  };
  const wrong =
    amount === undefined || amount === 0
      ? 'Write dollars, as 4.50'
      : amount > left
        ? `At most ${formatUsd(left)} is left to refund`
        : undefined;
  return (
    <Dialog isOpen={isOpen} onClose={close} title="Refund this payment" isHeld={refund.isRunning}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (wrong !== undefined || amount === undefined) return;
          const body = { sessionId, ...(isSettled ? { amount } : {}), ...(reason === '' ? {} : { reason }) };
          void refund.run({ body });
        }}
      >
        {isSettled ? (
          <>
            <TextField
              label="Amount"
              prefix="$"
              inputMode="decimal"
              value={typed ?? whole}
              onChange={setTyped}
              error={fieldError(refund.error, 'amount') ?? (typed === undefined ? undefined : wrong)}
            />
            <Notice tone="info" title="Your wallet sends this refund">
              The payment is settled, so the money is yours. On the next page your wallet signs the refund, in
              the token and on the network that the payer used.
            </Notice>
          </>
        ) : (
          <Notice tone="info" title={`The payer gets the whole ${formatUsd(left)} back`}>
            The payment is not settled yet, so Florin returns it on chain. It can take some minutes.
          </Notice>
        )}
        <TextField
          label="Reason"
          isOptional
          hint="For your own books. The payer does not see it."
          value={reason}
          onChange={setReason}
          maxLength={500}
          error={fieldError(refund.error, 'reason')}
        />
        <FailureNotice error={refund.error} fields={['amount', 'reason']} />
        <DialogActions>
          <Button onClick={close} disabled={refund.isRunning}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" isBusy={refund.isRunning}>
            {isSettled ? 'Go on to sign' : 'Refund'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
