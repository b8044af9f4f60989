import type { PaymentException } from '@florin/protocol/exception.ts';
import type { RefundStatus, Refund as RefundView } from '@florin/protocol/refund.ts';
import type { ReactNode } from 'react';
import { useRead } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { useParam } from '../app/use-param.ts';
import { buttonClass } from '../ui/button.tsx';
import { formatUsd } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { Card, Fact, Facts, PageHeader, Section, SkeletonPage } from '../ui/page.tsx';
import { RefundStatusBadge } from '../ui/refund-status.tsx';
import { Failed } from '../ui/states.tsx';
import { Address, Id, Time, Usd } from '../ui/value.tsx';
import { SignCard } from './sign-card.tsx';

/** A refund moves when the chain does, so the page follows it. */
const followMs = 4_000;

/** One refund: where it stands, and the signing in the browser's wallet. */
export default function Refund() {
  const refundId = useParam('refundId');
  const read = useRead('GET /refund/:refundId', { params: { refundId } }, { everyMs: followMs });
  if (read.data !== undefined) return <Loaded key={refundId} refund={read.data} onMoved={read.refetch} />;
  if (read.error !== null) return <Failed error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <PageHeader title="Refund" description={<Id id={refundId} isWhole />} />
      <SkeletonPage />
    </>
  );
}

const notices: Readonly<Partial<Record<RefundStatus, ReactNode>>> = {
  pending: (
    <Notice tone="info" title="Florin returns the payment">
      You have nothing to do. The refund is completed when the transaction is final on its chain.
    </Notice>
  ),
  completed: (
    <Notice tone="good" title="The payer has the money back">
      The transaction is final on its chain.
    </Notice>
  ),
  failed: (
    <Notice tone="bad" title="This refund did not happen">
      The money went another way: it was settled first, or the payer has it back already. The page of the
      payment shows where it is.
    </Notice>
  ),
  cancelled: (
    <Notice tone="info" title="You withdrew this refund">
      It moves no money. If a wallet still asks for it, decline there. If its transaction was signed before
      and is mined after all, this page shows the refund as paid.
    </Notice>
  ),
};

/** Paid by a transaction that was signed before the refund was withdrawn. */
const paidLate = (
  <Notice tone="warn" title="The payer has the money back, though you withdrew this refund">
    Its transaction was signed before, and is final on its chain. The amount counts as refunded, once.
  </Notice>
);

/** Its transaction was final, and is the one that the page names. */
const takenBack = (
  <Notice tone="warn" title="The chain took this refund back">
    Blocks that were final are gone, and the refund’s transaction with them. The payer no longer has the
    money. If the transaction comes back, it completes the refund.
  </Notice>
);

function Loaded({ refund, onMoved }: { readonly refund: RefundView; readonly onMoved: () => unknown }) {
  const { role } = useMerchant();
  const mayReadSession = mayDo(role, 'sessions:read');
  const { sessionId, exceptionId } = refund;
  const isSecond = exceptionId !== '';
  const session = useRead('GET /session/:sessionId', { params: { sessionId } }, { isOn: mayReadSession });
  const list = useRead('GET /token/list', {});
  const history = useRead(
    'GET /session/history/:sessionId',
    { params: { sessionId } },
    { isOn: mayReadSession && isSecond },
  );
  const paid = session.data?.session;
  const second = history.data?.exceptions.find((each) => each.exceptionId === exceptionId);
  const own = paid === undefined ? undefined : { payer: paid.payer, tokenId: paid.paidToken };
  const source: Pick<PaymentException, 'payer' | 'tokenId'> | undefined = isSecond ? second : own;
  const ofToken = refund.requiredBalance?.tokenId ?? source?.tokenId;
  const token = list.data?.tokens.find(({ tokenId }) => tokenId === ofToken);
  const pathTo = (kind: 'address' | 'tx', value: string) =>
    token === undefined || token.explorer === '' ? undefined : `${token.explorer}/${kind}/${value}`;
  return (
    <>
      <PageHeader
        title={`Refund of ${formatUsd(refund.amount)}`}
        badge={<RefundStatusBadge status={refund.status} />}
        description={<Id id={refund.refundId} isWhole />}
        actions={
          <ScreenLink path={`payments/${sessionId}`} className={buttonClass('plain')}>
            See the payment
          </ScreenLink>
        }
      />
      <div className="mb-6 grid gap-3 empty:hidden">
        {refund.status !== 'completed' && refund.txHash !== '' && takenBack}
        {refund.status === 'completed' && refund.cancelledAt !== '' ? paidLate : notices[refund.status]}
      </div>
      {refund.status === 'requires_signature' && (
        <Section title="Send it from your wallet">
          <SignCard
            refund={refund}
            token={token}
            settled={
              paid && {
                to: paid.recipient,
                token: list.data?.tokens.find(({ tokenId }) => tokenId === paid.settlementToken),
              }
            }
            maySign={mayDo(role, 'refunds:write')}
            onMoved={onMoved}
          />
        </Section>
      )}
      <Section title="Details">
        <Card>
          <Facts>
            <Fact name="Amount">
              <Usd micro={refund.amount} />
            </Fact>
            {source !== undefined && (
              <Fact name="Goes to the payer">
                <Address address={source.payer} href={pathTo('address', source.payer)} />
              </Fact>
            )}
            {isSecond && (
              <Fact name="Returns">
                <ScreenLink
                  path="exceptions"
                  search={{ exception: exceptionId } as never}
                  className="text-accent underline-offset-2 hover:underline"
                >
                  A second payment
                </ScreenLink>
              </Fact>
            )}
            <Fact name="Reason">{refund.reason || <span className="text-faint">—</span>}</Fact>
            {refund.txHash !== '' && (
              <Fact name="Transaction">
                <Address address={refund.txHash} href={pathTo('tx', refund.txHash)} />
              </Fact>
            )}
            <Fact name="Payment">
              <Id id={sessionId} />
            </Fact>
            <Fact name="Created">
              <Time isWhole time={refund.createAt} />
            </Fact>
            {refund.cancelledAt !== '' && (
              <Fact name="Withdrawn">
                <Time isWhole time={refund.cancelledAt} />
              </Fact>
            )}
            <Fact name="Last change">
              <Time isWhole time={refund.updateAt} />
            </Fact>
          </Facts>
        </Card>
      </Section>
    </>
  );
}
