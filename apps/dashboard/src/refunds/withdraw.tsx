import type { RefundSigning } from '@florin/protocol/refund-signing-api.ts';
import { Ban } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { toast } from '../ui/toast.tsx';
import { Address } from '../ui/value.tsx';
import { signerOf } from './signing.ts';

/** Cancels a refund after a question. If a wallet was asked to sign it, the question says what that wallet can still do. */
export function Withdraw({
  refundId,
  signing,
}: {
  readonly refundId: string;
  /** The open signing of this refund. */
  readonly signing: RefundSigning | undefined;
}) {
  const [isAsking, setAsking] = useState(false);
  const onDone = () => {
    setAsking(false);
    toast('Refund withdrawn');
  };
  const cancel = useWrite('POST /refund/cancel', { onDone });
  const cancelSigned = useWrite('POST /refund/withdraw', { onDone });
  const write = signing === undefined ? cancel : cancelSigned;
  const confirm = () =>
    signing === undefined
      ? cancel.run({ body: { refundId } })
      : cancelSigned.run({ body: { refundId, signingId: signing.signingId } });
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
        onConfirm={confirm}
        write={write}
        isDangerous
      >
        {signing === undefined ? <Unsigned /> : <Asked signing={signing} />}
      </Confirm>
    </>
  );
}

function Unsigned() {
  return (
    <>
      <p>
        No member can sign it here any more, and the payer gets nothing by it. You can make another refund of
        the payment at any time.
      </p>
      <p>
        If another tool has sent its transaction already, the money still goes back. This page then shows the
        refund as paid.
      </p>
    </>
  );
}

/** Florin cannot take back what a wallet was asked for. */
function Asked({ signing }: { readonly signing: RefundSigning }) {
  const { account, txHash } = signing;
  return (
    <>
      {txHash === '' ? (
        <p>
          {signerOf(signing)} asked the wallet <Address address={account} /> to sign it, and no answer is
          known. This does not reach that wallet. If it still asks, decline there.
        </p>
      ) : (
        <p>
          The wallet <Address address={account} /> sent its transaction <Address address={txHash} />. Withdraw
          the refund only if the wallet shows that the transaction failed or was cancelled.
        </p>
      )}
      <p>
        If the transaction is mined after all, the payer has the money back. It counts once, and this page
        shows the refund as paid.
      </p>
      <p>
        Another refund of this payment is then signed only in the place of this one. Its page warns of this
        wallet.
      </p>
    </>
  );
}
