import type { PaymentException } from '@florin/protocol/exception.ts';
import { Undo2, Wallet } from 'lucide-react';
import { useState } from 'react';
import { useRead, useWrite } from '../api/use-call.ts';
import { ScreenLink, useGoTo } from '../app/screen-link.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { toast } from '../ui/toast.tsx';

/** Makes a refund of a second payment that was settled, or leads to the one that waits for the wallet. */
export function ReturnSecond({ exception }: { readonly exception: PaymentException }) {
  const { exceptionId, sessionId } = exception;
  const goTo = useGoTo();
  const [isAsking, setAsking] = useState(false);
  const history = useRead('GET /session/history/:sessionId', { params: { sessionId } });
  const create = useWrite('POST /refund/create', {
    onDone: ({ refundId }) => {
      toast('Refund made: sign it with your wallet');
      goTo(`refunds/${refundId}`);
    },
  });
  // Without the history a second refund of the same money could be made.
  if (history.data === undefined) return null;
  const waiting = history.data.refunds.find(
    (refund) => refund.exceptionId === exceptionId && refund.status === 'requires_signature',
  );
  if (waiting !== undefined)
    return (
      <ScreenLink path={`refunds/${waiting.refundId}`} className={buttonClass('primary')}>
        <Wallet aria-hidden className="size-4" />
        Sign its return
      </ScreenLink>
    );
  return (
    <>
      <Button kind="primary" icon={<Undo2 />} onClick={() => setAsking(true)}>
        Return it
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Return the second payment?"
        act="Go on to sign"
        onConfirm={() => create.run({ body: { sessionId, exceptionId } })}
        write={create}
      >
        <p>
          This makes a refund of all that is left of it. On the next page your wallet signs, in the token and
          on the network of this payment. The gateway pays the payer who sent it. The other payment stays as
          it is.
        </p>
      </Confirm>
    </>
  );
}
