import { type LineItem, withoutProductData } from '@florin/protocol/line-item.ts';
import type { Link, LinkCreated, LinkDetail } from '@florin/protocol/link.ts';
import { microUsdToNumber } from '@florin/protocol/money.ts';
import { withoutDefaults } from '@florin/protocol/shop-return.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import type { ItemProduct } from '#catalog/product.ts';
import type { Chains } from '#chains/chain.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { StoredLink } from './stored-link.ts';

/** The hosted checkout URL of a link. */
function linkUrlOf(linkId: string, origin: string): string {
  return `${origin}/link/${linkId}`;
}

/** What a merchant decides about a link, as reads show it. */
export function termsOf(link: StoredLink) {
  const { exceptionPolicy, maxPayments, activeUntil } = link;
  return {
    linkType: link.linkType,
    linkName: link.linkName,
    settlementToken: link.settlementToken,
    feeModel: link.feeModel,
    payerEmailRequired: link.payerEmailRequired ? 1 : 0,
    successUrl: link.successUrl,
    ...withoutDefaults(link),
    customSuccessText: link.customSuccessText,
    customDisabledText: link.customDisabledText,
    ...(exceptionPolicy && { exceptionPolicy }),
    ...(maxPayments !== undefined && { maxPayments }),
    ...(activeUntil !== undefined && { activeUntil: unixSeconds(activeUntil) }),
  };
}

function linkFields(link: StoredLink, origin: string): Omit<Link, 'lineItems'> {
  // Callers refuse or leave out deleted links.
  if (link.status === 'deleted') throw new Error(`a deleted link cannot be shown: ${link.linkId}`);
  return {
    linkId: link.linkId,
    ...termsOf(link),
    accountId: link.account.accountId,
    amount: microUsdToNumber(link.amount),
    linkUrl: linkUrlOf(link.linkId, origin),
    status: link.status,
    ...(link.maxPayments !== undefined && { paymentCount: Number(link.paymentCount) }),
    ...(link.disabledReason !== undefined && { disabledReason: link.disabledReason }),
    versionCode: link.versionCode,
    createAt: formatTimestamp(link.createdAt),
    updateAt: formatTimestamp(link.updatedAt),
  };
}

/** A link as lists show it: its line items without productData. */
export function linkListItem(link: StoredLink, origin: string): Link {
  const items = link.items.map(withoutProductData);
  return { ...linkFields(link, origin), lineItems: { items } };
}

/** A link as POST /payment/link/create answers it. */
export function linkCreated(link: StoredLink, origin: string): LinkCreated {
  const fields = linkFields(link, origin);
  const items = [...link.items];
  return { ...fields, lineItems: { items, lineItems: { items }, amount: fields.amount } };
}

/** A link as GET /payment/link/:linkId shows it: the products with their status, the account, and the token. */
export function linkDetailOf(
  link: StoredLink,
  products: ReadonlyMap<string, ItemProduct>,
  shown: { origin: string; chains: Chains },
): LinkDetail {
  return {
    ...linkFields(link, shown.origin),
    lineItems: { items: link.items.map((item) => withProductStatus(item, products.get(item.productId))) },
    accountName: link.account.accountName,
    accountAddress: link.account.accountAddress,
    settlementTokenInfo: settlementTokenInfoOf(link.settlementToken, shown.chains),
  };
}

/** The data of an event about a link: what a read shows, and the same without productData. */
export function linkEventData(link: LinkDetail): { dataJson: string; shortDataJson: () => string } {
  const shortItems = () => ({ items: link.lineItems.items.map(withoutProductData) });
  return {
    dataJson: JSON.stringify({ link }),
    shortDataJson: () => JSON.stringify({ link: { ...link, lineItems: shortItems() } }),
  };
}

function withProductStatus(item: LineItem, product: ItemProduct | undefined): LineItem {
  if (item.productData === undefined || product === undefined) return item;
  return { ...item, productData: { ...item.productData, status: product.status } };
}

/** Empty except for the id when the token has been removed from the configuration. */
function settlementTokenInfoOf(tokenId: string, chains: Chains): LinkDetail['settlementTokenInfo'] {
  const token = chains.token(tokenId);
  return {
    tokenId,
    contractAddress: token?.address ?? '',
    name: token?.name ?? '',
    symbol: token?.symbol ?? '',
    decimals: token?.decimals ?? 0,
    chainId: token === undefined ? '' : String(token.chainId),
  };
}
