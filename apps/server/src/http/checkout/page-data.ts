import {
  boundsText,
  type Language,
  type PageData,
  type PageImage,
  type PageItem,
  type PageMerchant,
} from '@florin/checkout';
import { groundColorsOf } from '@florin/protocol/brand-colors.ts';
import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { LineItem } from '@florin/protocol/line-item.ts';
import { microUsd } from '@florin/protocol/money.ts';
import { returnUrlOf } from '@florin/protocol/shop-return.ts';
import { merchantNames, merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import type { ShownMerchant } from '#catalog/branding.ts';
import { imageUrlOfSize } from '#catalog/images/image-name.ts';
import { networkFactsOf, networkTitle } from '#chains/networks.ts';
import { findLinkNameAt } from '#links/link-history.ts';
import { findLink } from '#links/link-lookup.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { closureOf } from '#orders/quote.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { CheckoutContext } from './context.ts';
import { drawingsFor } from './drawings.ts';
import { findSessionFacts } from './session-facts.ts';
import { checkoutState, linkBounds, linkOptions, sessionOptions, withOwnDeposit } from './state.ts';

/** The data of a link's page. */
export function linkPageData(
  deps: CheckoutContext,
  { link, front }: { readonly link: StoredLink; readonly front: ShownMerchant },
  language: Language,
): PageData {
  const isCustom = link.linkType === 'custom';
  // Without a token to settle in there is no way to pay, rather than a list of ways that are all closed.
  const isClosed = closureOf(deps.chains, link.settlementToken) !== undefined;
  const options = isClosed ? [] : linkOptions(deps, link, isCustom ? undefined : link.amount);
  return {
    ...frameData(deps, language),
    link: {
      ...{ linkId: link.linkId, version: link.versionCode, isCustom },
      // There is no session yet.
      ...(link.cancelUrl === '' ? {} : { cancelUrl: returnUrlOf(link.cancelUrl, '', 'open') }),
    },
    linkUrl: '',
    title: merchantText(link.linkName, merchantTextLimits.linkName),
    ...merchantOf(front),
    items: link.items.map((item) => pageItem(item, isCustom ? '' : itemTotal(item))),
    amount: isCustom ? '' : link.amount.toString(),
    ...(isCustom
      ? { bounds: boundsText({ locale: language.tag, texts: language.texts }, linkBounds(deps, link)) }
      : {}),
    isFeeOnTop: link.feeModel === 2,
    isEmailRequired: link.payerEmailRequired,
    intendedPayer: '',
    recipient: link.account.accountAddress,
    ...settlementOf(deps, link.settlementToken),
    options,
    drawings: drawingsFor(options),
    explorers: explorersOf(deps),
  };
}

/** The data of a session's page, which always has a state. */
export type SessionPage = PageData & { readonly state: CheckoutState };

/** Reads the data of a session's page; `order` has the deposit address that it shows instead of the session's. */
export async function sessionPageData(
  deps: CheckoutContext,
  {
    session,
    front,
    order,
  }: { readonly session: StoredSession; readonly front: ShownMerchant; readonly order?: string | undefined },
  language: Language,
): Promise<SessionPage> {
  const facts = await findSessionFacts(deps, [session]);
  const withOwn = await withOwnDeposit(deps, session.sessionId, order);
  const link =
    session.businessId === '' ? undefined : await findLink(deps.db, session.businessId, deps.clock.now());
  // A payment keeps what its payer agreed to.
  const linkName = link === undefined ? undefined : await findLinkNameAt(deps.db, link, session.createdAt);
  const isUnsigned = session.status === 'initialized' && !session.signedOnce;
  const isClosed = isUnsigned && closureOf(deps.chains, session.settlementToken) !== undefined;
  const options = isClosed ? [] : await sessionOptions(deps, session);
  const first = session.items[0]?.productData?.productName ?? '';
  const state = withOwn(await checkoutState(deps, session, facts(session)));
  return {
    ...frameData(deps, language),
    state,
    linkUrl: link?.status === 'active' ? `${deps.origin}/link/${link.linkId}` : '',
    title: merchantText(linkName ?? first, merchantTextLimits.linkName),
    ...merchantOf(front),
    // The whole page is the receipt of a payment, on paper too.
    ...state.receiptNames,
    items: session.items.map((item) => pageItem(item, itemTotal(item))),
    amount: (session.chosenTotal ?? session.amount).toString(),
    isFeeOnTop: session.feeModel === 2 && session.chosenTotal === undefined,
    isEmailRequired: session.payerEmailRequired,
    intendedPayer: session.intendedPayer,
    recipient: session.recipient,
    ...settlementOf(deps, session.settlementToken),
    options,
    drawings: drawingsFor(options),
    explorers: explorersOf(deps),
  };
}

function frameData({ agentApi, gasless, fundingUrl, notify }: CheckoutContext, { tag, texts }: Language) {
  return {
    emailHint: notify && texts.emailReceipt,
    locale: tag,
    texts,
    agentApi: new URL(agentApi).pathname,
    minDeposit: gasless?.minAmount.toString(),
    fundingUrl,
  };
}

/** The merchant as payers see it. */
export function merchantOf(front: ShownMerchant): PageMerchant {
  const { logoUrl, darkLogoUrl, iconUrl, background } = front;
  return {
    ...merchantNames(front),
    logo: imageOf(logoUrl),
    darkLogo: imageOf(darkLogoUrl),
    icon:
      iconUrl === '' ? undefined : { url: imageUrlOfSize(iconUrl, 96), dense: imageUrlOfSize(iconUrl, 320) },
    scheme: background === '' ? 'device' : groundColorsOf(background).scheme,
    links: [
      ['support', front.supportUrl] as const,
      ['terms', front.termsUrl] as const,
      ['refunds', front.refundUrl] as const,
      ['privacy', front.privacyUrl] as const,
    ].flatMap(([name, url]) => (url === '' ? [] : [{ name, url }])),
  };
}

/** A logo for pages: at most 160 pixels wide, for displays of two densities. */
function imageOf(url: string): PageImage | undefined {
  return url === '' ? undefined : { url: imageUrlOfSize(url, 320), dense: imageUrlOfSize(url, 640) };
}

function settlementOf({ chains }: CheckoutContext, settlementToken: string) {
  const token = chains.token(settlementToken);
  const chain = token === undefined ? undefined : chains.byId(token.chainId);
  const settledIn =
    token === undefined || chain === undefined ? settlementToken : `${token.symbol} · ${networkTitle(chain)}`;
  return { settlementChainId: token === undefined ? '' : String(token.chainId), settledIn };
}

/** Of every chain: a receipt may name one that takes no payment now. */
function explorersOf({ chains }: CheckoutContext) {
  const known = chains.all.flatMap((chain) => {
    const explorer = networkFactsOf(chain)?.explorer ?? '';
    return explorer === '' ? [] : [[chain.chainId, explorer] as const];
  });
  return Object.fromEntries(known);
}

function itemTotal({ quantity, unitPrice }: LineItem): string {
  return microUsd(BigInt(unitPrice) * BigInt(quantity)).toString();
}

/** A line item as pages show it. `value` is of all units, in Micro-USD; empty while the payer chooses. */
export function pageItem(
  { quantity, productData }: Pick<LineItem, 'quantity' | 'productData'>,
  value: string,
): PageItem {
  const limits = merchantTextLimits;
  const url = productData?.imageUrl ?? '';
  return {
    name: merchantText(productData?.productName ?? '', limits.productName),
    description: merchantText(productData?.productDescription ?? '', limits.productDescription),
    attributes: (productData?.attributes ?? []).map(({ name, value }) => ({
      name: merchantText(name, limits.attributeName),
      value: merchantText(value, limits.attributeValue),
    })),
    ...{ quantity, value },
    ...(url === '' ? {} : { image: { url: imageUrlOfSize(url, 96), dense: imageUrlOfSize(url, 320) } }),
  };
}
