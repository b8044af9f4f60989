import { Ban } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { toast } from '../ui/toast.tsx';

/** Cancels a refund that no wallet was asked to sign, after a question. */
export function Withdraw({ refundId }: { readonly refundId: string }) {
  const [isAsking, setAsking] = useState(false);
  const cancel = useWrite('POST /refund/cancel', {
    onDone: () => {
      setAsking(false);
      toast('Refund withdrawn');
    },
  });
  return (
    <>
      <Button icon={<Ban />} onClick={() => setAsking(true)}>
        Withdraw refund
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Withdraw this refund?"
        act="Withdraw"
        onConfirm={() => cancel.run({ body: { refundId } })}
        write={cancel}
        isDangerous
      >
        <p>
          No member can sign it here any more, and the payer gets nothing by it. You can make another refund
          of the payment at any time.
        </p>
        <p>
          If another tool has sent its transaction already, the money still goes back. This page then shows
          the refund as paid.
        </p>
      </Confirm>
    </>
  );
}
