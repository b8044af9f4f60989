import type { PaymentException } from '@florin/protocol/exception.ts';
import { useQueryClient } from '@tanstack/react-query';
import { Check, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { serviceNow } from '../api/service-clock.ts';
import { useRead, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { DialogActions, Sheet } from '../ui/dialog.tsx';
import { exceptionText, isOfDeposit } from '../ui/exception-text.ts';
import { exactTime, parseTime } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { Fact, Facts } from '../ui/page.tsx';
import { toast } from '../ui/toast.tsx';
import { Address, Id, Time } from '../ui/value.tsx';
import { ExceptionAmount, type ExceptionToken } from './exception-parts.tsx';
import { exceptionState, isToReturn } from './exception-state.ts';
import { ReturnSecond } from './return-second.tsx';

const acts = {
  accept: {
    button: 'Accept',
    title: 'Accept this money as the payment?',
    what: 'The session becomes paid when the chain shows the payment. You cannot change this decision.',
    done: 'Accepted',
  },
  refund: {
    button: 'Return',
    title: 'Return this money to its payer?',
    what: 'It goes back once the time for late payments is over. You cannot change this decision.',
    done: 'The money goes back',
  },
  resolve: {
    button: 'Mark as resolved',
    title: 'Mark this exception as resolved?',
    what: 'It leaves the open ones. This moves no money: what is still at a deposit address goes back to its payer.',
    done: 'Marked as resolved',
  },
} as const;
type Act = keyof typeof acts;

interface SheetProps {
  readonly exception: PaymentException;
  readonly token: ExceptionToken | undefined;
  readonly onClose: () => void;
}

/** One exception: what happened, what comes next, and what can be decided. */
export function ExceptionSheet({ exception, token, onClose }: SheetProps) {
  const { role } = useMerchant();
  const [asking, setAsking] = useState<Act>();
  const { exceptionId, status } = exception;
  const { title, what } = exceptionText(exception);
  const state = exceptionState(exception, new Date(serviceNow()));
  const mayAct = mayDo(role, 'refunds:write') && status === 'open';
  return (
    <Sheet isOpen onClose={onClose} title={title} description={what}>
      <div className="grid gap-4">
        <Notice tone={state.tone} title={state.text}>
          {state.next}
          {state.by !== undefined && (
            <p className="mt-1">
              {state.canDecide ? 'Decide by' : 'From'} {exactTime(state.by)}
            </p>
          )}
        </Notice>
        <ExceptionFacts exception={exception} token={token} />
      </div>
      {mayAct && (
        <DialogActions>
          {!state.canDecide && (
            <Button icon={<Check />} onClick={() => setAsking('resolve')}>
              Mark as resolved
            </Button>
          )}
          {isToReturn(exception) && <ReturnSecond exception={exception} />}
          {state.canDecide && (
            <>
              <Button icon={<Undo2 />} onClick={() => setAsking('refund')}>
                Return
              </Button>
              <Button kind="primary" onClick={() => setAsking('accept')}>
                Accept
              </Button>
            </>
          )}
        </DialogActions>
      )}
      <ConfirmAct exceptionId={exceptionId} act={asking} onClose={() => setAsking(undefined)} />
    </Sheet>
  );
}

function ConfirmAct({
  exceptionId,
  act,
  onClose,
}: {
  readonly exceptionId: string;
  readonly act: Act | undefined;
  readonly onClose: () => void;
}) {
  const onDone = () => {
    if (act !== undefined) toast(acts[act].done);
    onClose();
  };
  const queries = useQueryClient();
  const accept = useWrite('POST /exception/accept', { onDone });
  const refund = useWrite('POST /exception/refund', { onDone });
  const resolve = useWrite('POST /exception/resolve', { onDone });
  if (act === undefined) return null;
  const write = { accept, refund, resolve }[act];
  const confirm = async () => {
    if ((await write.run({ body: { exceptionId } })) !== undefined) return;
    // Another member was first: the sheet behind reads again what was decided.
    await queries.invalidateQueries();
  };
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={acts[act].title}
      act={acts[act].button}
      onConfirm={confirm}
      write={write}
    >
      <p>
        {write.error?.slug === 'exception_decided'
          ? 'Another member was first. Close this: the exception shows what was decided, which stays.'
          : acts[act].what}
      </p>
    </Confirm>
  );
}

/** When a payment that is not settled goes back. */
function EndOfTrying({ sessionId }: { readonly sessionId: string }) {
  const { data } = useRead('GET /session/history/:sessionId', { params: { sessionId } });
  const end = parseTime(data?.settleBy ?? '');
  return (
    <Fact name="Goes back to its payer">
      {end === undefined ? '—' : `${exactTime(end)}, unless it is settled before`}
    </Fact>
  );
}

function ExceptionFacts({ exception, token }: Omit<SheetProps, 'onClose'>) {
  const { kind, amountInToken, tokenId, payer, txHash, resolvedTx, sessionId, exceptionId } = exception;
  const pathTo = (kind: 'address' | 'tx', value: string) =>
    token === undefined || token.explorer === '' ? undefined : `${token.explorer}/${kind}/${value}`;
  return (
    <Facts>
      <Fact name="Amount">
        <ExceptionAmount amountInToken={amountInToken} tokenId={tokenId} token={token} />
        {token !== undefined && <span className="text-soft"> on {token.network}</span>}
      </Fact>
      <Fact name="Payment">
        <ScreenLink path={`payments/${sessionId}`} className="text-accent underline-offset-2 hover:underline">
          See the payment
        </ScreenLink>
      </Fact>
      <Fact name={isOfDeposit(kind) ? 'Refund address' : 'Payer'}>
        <Address address={payer} href={pathTo('address', payer)} />
      </Fact>
      {kind === 'unsettled' && exception.status === 'open' && <EndOfTrying sessionId={sessionId} />}
      {txHash !== '' && (
        <Fact name="Transaction">
          <Address address={txHash} href={pathTo('tx', txHash)} />
        </Fact>
      )}
      {resolvedTx !== '' && (
        <Fact name="Transaction that resolved it">
          <Address address={resolvedTx} href={pathTo('tx', resolvedTx)} />
        </Fact>
      )}
      <Fact name="Arrived">
        <Time isWhole time={exception.createAt} />
      </Fact>
      <Fact name="Id">
        <Id id={exceptionId} isWhole />
      </Fact>
    </Facts>
  );
}
