import type { SessionView } from '@florin/protocol/session.ts';
import { useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { Button } from '../ui/button.tsx';
import { FailureNotice } from '../ui/notice.tsx';
import { Card, Fact, Facts } from '../ui/page.tsx';
import { toast } from '../ui/toast.tsx';
import { Address, Id, Time } from '../ui/value.tsx';
import type { PaymentHistory, PaymentToken } from './types.ts';

const sessionKinds = { chk: 'Checkout session', lnk: 'Payment link', ai_checkout: 'AI agent' } as const;

/** Everything else that is known of a payment. */
export function PaymentDetails({
  view,
  payerName,
  mails,
  tokenOf,
}: {
  readonly view: SessionView;
  /** What the payer's address is. */
  readonly payerName: string;
  readonly mails: PaymentHistory['mails'];
  readonly tokenOf: (tokenId: string) => PaymentToken | undefined;
}) {
  const { session, transaction } = view;
  const explorerOf = (tokenId: string) => tokenOf(tokenId)?.explorer ?? '';
  const pathTo = (tokenId: string, kind: 'address' | 'tx', value: string) =>
    explorerOf(tokenId) === '' ? undefined : `${explorerOf(tokenId)}/${kind}/${value}`;
  const settlement = tokenOf(session.settlementToken);
  const metadata = JSON.stringify(session.metadata, undefined, 2);
  return (
    <Card>
      <Facts>
        <Fact name="Made by">
          {sessionKinds[session.sessionType]}
          {session.businessId !== '' && (
            <>
              {' '}
              <ScreenLink
                path={`links/${session.businessId}`}
                className="mr-2 text-accent underline-offset-2 hover:underline"
              >
                {view.linkName ?? 'See the link'}
              </ScreenLink>
              <Id id={session.businessId} />
            </>
          )}
        </Fact>
        <Fact name="Created">
          <Time isWhole time={session.createAt} />
        </Fact>
        {session.status === 'initialized' && (
          <Fact name="Can be paid until">
            <Time isWhole time={session.expirationTime} />
          </Fact>
        )}
        {session.payer !== '' && (
          <Fact name={payerName}>
            <Address address={session.payer} href={pathTo(session.paidToken, 'address', session.payer)} />
          </Fact>
        )}
        {session.payerEmail !== '' && <Fact name="Payer’s e-mail">{session.payerEmail}</Fact>}
        {mails.length > 0 && (
          <Fact name="E-mails to the payer">
            <MailList mails={mails} sessionId={session.sessionId} />
          </Fact>
        )}
        <Fact name="Your wallet">
          <Address
            address={session.recipient}
            href={pathTo(session.settlementToken, 'address', session.recipient)}
          />
        </Fact>
        <Fact name="Settles in">
          {settlement === undefined
            ? session.settlementToken
            : `${settlement.symbol} on ${settlement.network}`}
        </Fact>
        {session.initiateTx !== '' && (
          <Fact name="Payment">
            <Address
              address={session.initiateTx}
              href={pathTo(session.paidToken, 'tx', session.initiateTx)}
            />
          </Fact>
        )}
        {session.completeTx !== '' && (
          <Fact name="Settlement">
            <Address
              address={session.completeTx}
              href={pathTo(session.settlementToken, 'tx', session.completeTx)}
            />
          </Fact>
        )}
        {transaction !== undefined && (
          <Fact name="Order on chain">
            <Address address={transaction.orderId} />
          </Fact>
        )}
        {session.receiptId !== '' && (
          <Fact name="Receipt">
            <Id id={session.receiptId} />
          </Fact>
        )}
        <Fact name="Metadata" isBlock={metadata !== '{}'}>
          {metadata === '{}' ? (
            <span className="text-faint">—</span>
          ) : (
            <pre className="overflow-x-auto rounded-lg bg-sunken p-3 font-mono text-sm">{metadata}</pre>
          )}
        </Fact>
      </Facts>
    </Card>
  );
}

const mailWords: Readonly<Record<PaymentHistory['mails'][number]['status'], string>> = {
  pending: 'waits to be sent',
  sent: 'sent',
  failed: 'not delivered: the mail server did not take it',
  bounced: 'not delivered: the mail server refused the address',
  suppressed: 'not sent: the mail server refused the address before',
};
const tooMany = 'not sent: within a day there were too many e-mails to this payer, or of this shop';

function mailName(kind: PaymentHistory['mails'][number]['kind'], isLoss: boolean): string {
  if (isLoss)
    return kind === 'receipt' ? 'Notice that the payment is gone' : 'Notice that the refund is gone';
  return kind === 'receipt' ? 'Receipt' : 'Refund';
}

function MailList({
  mails,
  sessionId,
}: {
  readonly mails: PaymentHistory['mails'];
  readonly sessionId: string;
}) {
  const { role } = useMerchant();
  const again = useWrite('POST /session/receipt/send', { onDone: () => toast('The receipt is on its way') });
  const last = mails.findLast(({ kind, isLoss }) => kind === 'receipt' && !isLoss);
  // What waits comes by itself, and an address that was refused gets nothing.
  const isUseful = last?.status === 'sent' || last?.status === 'failed' || last?.isTooMany === true;
  return (
    <div className="grid justify-items-start gap-2">
      <ul className="grid gap-1">
        {mails.map(({ kind, isLoss, status, isTooMany, at }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two may have gone out in one second, and none leaves its place.
          <li key={index}>
            {mailName(kind, isLoss)} {isTooMany ? tooMany : mailWords[status]}{' '}
            <Time time={at} className="text-soft" />
          </li>
        ))}
      </ul>
      {isUseful && mayDo(role, 'checkout_sessions:write') && (
        <Button size="small" isBusy={again.isRunning} onClick={() => void again.run({ body: { sessionId } })}>
          Send the receipt again
        </Button>
      )}
      <FailureNotice error={again.error} />
    </div>
  );
}
