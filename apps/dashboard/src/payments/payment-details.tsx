import type { SessionView } from '@florin/protocol/session.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { Card, Fact, Facts } from '../ui/page.tsx';
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
            <MailList mails={mails} />
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
  suppressed: 'not sent: the mail server refused the address before, or a day had too many',
};

function MailList({ mails }: { readonly mails: PaymentHistory['mails'] }) {
  return (
    <ul className="grid gap-1">
      {mails.map(({ kind, status, at }) => (
        <li key={`${kind}${at}`}>
          {kind === 'receipt' ? 'Receipt' : 'Refund'} {mailWords[status]}{' '}
          <Time time={at} className="text-soft" />
        </li>
      ))}
    </ul>
  );
}
