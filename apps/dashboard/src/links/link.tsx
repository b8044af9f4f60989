import type { LinkDetail, LinkDisabledReason } from '@florin/protocol/link.ts';
import type { LinkHistory } from '@florin/protocol/link-history.ts';
import { useRead } from '../api/use-call.ts';
import { useTokenClosure, useTokenNames } from '../api/use-token-names.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { useParam } from '../app/use-param.ts';
import { Badge } from '../ui/badge.tsx';
import { formatNumber } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { Card, Fact, Facts, PageHeader, Section, SkeletonPage } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';
import { Address, Id, Time, Usd } from '../ui/value.tsx';
import { DeletedLink } from './deleted-link.tsx';
import { LinkActs } from './link-acts.tsx';
import { LinkBadge } from './link-badge.tsx';
import { policyTexts } from './link-draft.ts';
import { LinkShare } from './link-share.tsx';
import { LinkVersions } from './link-versions.tsx';

/** One payment link: how to hand it out, what it sells, and what can be done with it. */
export default function LinkPage() {
  const linkId = useParam('linkId');
  const read = useRead('GET /payment/link/:linkId', { params: { linkId } });
  const history = useRead('GET /payment/link/history/:linkId', { params: { linkId } });
  // It may have been deleted while its page stood open.
  if (history.data?.status === 'deleted') return <DeletedLink history={history.data} />;
  if (read.data !== undefined) return <Loaded link={read.data} history={history.data} />;
  if (read.error !== null && (history.data !== undefined || history.error !== null))
    return <Failed error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <PageHeader title="Link" description={<Id id={linkId} isWhole />} />
      <SkeletonPage aside />
    </>
  );
}

function Loaded({ link, history }: { readonly link: LinkDetail; readonly history: LinkHistory | undefined }) {
  const isActive = link.status === 'active';
  return (
    <>
      <PageHeader
        title={link.linkName}
        badge={<LinkBadge link={link} />}
        description={<Id id={link.linkId} isWhole />}
        actions={<LinkActs link={link} />}
      />
      {!isActive && (
        <div className="mb-6">
          <Notice tone="warn" title="The link takes no new payments">
            {reasonTexts[link.disabledReason ?? 'merchant']}{' '}
            {link.customDisabledText === ''
              ? 'Its page says that it takes no payments.'
              : `Its page says: ${link.customDisabledText}`}
          </Notice>
        </div>
      )}
      {isActive && <ClosedToken tokenId={link.settlementToken} />}
      <LinkShare link={link} />
      <Section title="What it sells">
        <Items link={link} />
      </Section>
      <Section title="Details">
        <Details link={link} />
      </Section>
      {history !== undefined && <LinkVersions history={history} />}
    </>
  );
}

/** Nothing of the link says it: its token is closed for all merchants. */
function ClosedToken({ tokenId }: { readonly tokenId: string }) {
  const closure = useTokenClosure()(tokenId);
  const name = useTokenNames()(tokenId);
  if (closure === undefined) return null;
  return (
    <div className="mb-6">
      <Notice tone="bad" title="The link takes no payments now, in any token">
        You receive {name}, which is {closure}. It takes payments again by itself. Until then, edit the link
        and choose another token for what you receive.
      </Notice>
    </div>
  );
}

const reasonTexts: Readonly<Record<LinkDisabledReason, string>> = {
  merchant: 'A member disabled it.',
  product_archived: 'One of its products was archived.',
  account_removed: 'Its wallet was removed. Edit the link to choose another one, and then enable it.',
  limit_reached: 'It has had all its payments. Raise its limit, then enable it.',
  ended: 'Its time is over. Choose a later end, then enable it.',
  merchant_suspended: 'The operator suspended this business.',
  line_items_too_large: 'The texts of its products are too long together. Shorten their descriptions.',
};

function Items({ link }: { readonly link: LinkDetail }) {
  const isCustom = link.linkType === 'custom';
  return (
    <Card className="px-4 py-1 md:px-5">
      <ul className="divide-y divide-line">
        {link.lineItems.items.map((item) => (
          <li key={item.lineItemId} className="flex items-center justify-between gap-4 py-2.5">
            <span className="min-w-0 truncate">
              {item.productId === '' ? (
                'A payment without a product'
              ) : (
                <ScreenLink
                  path={`products/${item.productId}`}
                  className="font-medium text-accent underline-offset-2 hover:underline"
                >
                  {item.productData?.productName ?? item.productId}
                </ScreenLink>
              )}
              {item.quantity > 1 && <span className="text-soft"> × {item.quantity}</span>}
              {item.productData?.status === 'archived' && (
                <span className="ml-2">
                  <Badge tone="warn">Archived</Badge>
                </span>
              )}
            </span>
            {isCustom ? (
              <span className="whitespace-nowrap text-soft">Any amount</span>
            ) : (
              <Usd micro={item.unitPrice * item.quantity} />
            )}
          </li>
        ))}
        {link.lineItems.items.length > 1 && (
          <li className="flex justify-between gap-4 py-2.5 font-semibold">
            <span>Total</span>
            <Usd micro={link.amount} />
          </li>
        )}
      </ul>
    </Card>
  );
}

function Details({ link }: { readonly link: LinkDetail }) {
  const nameOf = useTokenNames();
  const operators = useRead('GET /token/list', {}).data?.depositPolicy;
  return (
    <Card>
      <Facts>
        <Fact name="Wallet">
          {link.accountName} <Address address={link.accountAddress} />
        </Fact>
        <Fact name="You receive">{nameOf(link.settlementToken)}</Fact>
        <Fact name="The fee">{link.feeModel === 2 ? 'The payer pays it' : 'You pay it'}</Fact>
        <Fact name="Payer’s e-mail">{link.payerEmailRequired === 1 ? 'Required' : 'Not required'}</Fact>
        <Fact name="Page after payment">
          {link.successUrl === '' ? '—' : <span className="break-all">{link.successUrl}</span>}
        </Fact>
        {link.cancelUrl !== undefined && (
          <Fact name="Page for payers who do not pay">
            <span className="break-all">{link.cancelUrl}</span>
          </Fact>
        )}
        {link.customSuccessText !== '' && <Fact name="Text after payment">{link.customSuccessText}</Fact>}
        {policyTexts(link.exceptionPolicy, operators).map(([name, text]) => (
          <Fact key={name} name={name}>
            {text}
          </Fact>
        ))}
        {link.maxPayments !== undefined && (
          <Fact name="Limit">
            {formatNumber(link.paymentCount ?? 0)} of {formatNumber(link.maxPayments)} payments made
          </Fact>
        )}
        {link.activeUntil !== undefined && (
          <Fact name={link.disabledReason === 'ended' ? 'Ended' : 'Ends'}>
            <Time isWhole time={link.activeUntil} />
          </Fact>
        )}
        <Fact name="Payments">
          <ScreenLink
            path="payments"
            search={{ linkId: link.linkId } as never}
            className="text-accent underline-offset-2 hover:underline"
          >
            Show the payments of this link
          </ScreenLink>
        </Fact>
        <Fact name="Changed">
          <Time isWhole time={link.updateAt} />
        </Fact>
      </Facts>
    </Card>
  );
}
