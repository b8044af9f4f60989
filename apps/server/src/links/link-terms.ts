import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import type { FeeModel } from '@florin/protocol/fee.ts';
import { newId } from '@florin/protocol/id.ts';
import { type LineItem, maxLineItemsBytes } from '@florin/protocol/line-item.ts';
import type { LinkCreateBody } from '@florin/protocol/link.ts';
import { type MicroUsd, maxMicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { ItemProduct } from '#catalog/product.ts';
import type { Chains } from '#chains/chain.ts';
import type { Random } from '#outside/random.ts';
import type { StoredLink } from './stored-link.ts';

/** A line item of a link as stored. Its content comes from its current product. */
export interface LinkItem {
  readonly lineItemId: string;
  readonly itemType: 'product' | 'user_priced';
  /** Empty when a user_priced item shows no product. */
  readonly productId: string;
  readonly quantity: number;
  /** Micro-USD; 0 for user_priced. */
  readonly unitPrice: number;
}

/**
 * Checks that the line items fit the link's type. A fixed link takes product items with a price. A custom link takes
 * exactly one user_priced item without a price. Refuses with 100105 (the type) or 400101 (a field).
 */
export function linkItemsOf(body: LinkCreateBody, random: Random): LinkItem[] {
  if (body.linkType === 'custom' && body.lineItems.length !== 1) {
    throw mismatch('a custom link has exactly one user_priced line item');
  }
  return body.lineItems.map((item, index) => {
    const path = `lineItems[${index}]`;
    const draft = body.linkType === 'fixed' ? productItem(item, path) : userPricedItem(item, path);
    return { lineItemId: newId('lineItem', random.bytes), ...draft };
  });
}

type ItemBody = LinkCreateBody['lineItems'][number];

function productItem(item: ItemBody, path: string): Omit<LinkItem, 'lineItemId'> {
  if (item.itemType !== 'product')
    throw mismatch('a fixed link has product line items only', `${path}.itemType`);
  if (item.productId === undefined || item.productId === '')
    throw fieldRefusal(`${path}.productId`, 'is required');
  if (item.unitPrice === undefined) throw fieldRefusal(`${path}.unitPrice`, 'is required in a fixed link');
  if (item.unitPrice === 0) throw fieldRefusal(`${path}.unitPrice`, 'must be at least 1');
  const { productId, unitPrice, quantity = 1 } = item;
  return { itemType: 'product', productId, quantity, unitPrice };
}

function userPricedItem(item: ItemBody, path: string): Omit<LinkItem, 'lineItemId'> {
  if (item.itemType !== 'user_priced') {
    throw mismatch('the line item of a custom link is user_priced', `${path}.itemType`);
  }
  if (item.quantity !== undefined && item.quantity !== 1) {
    throw fieldRefusal(`${path}.quantity`, 'must be 1 for a user_priced item');
  }
  if (item.unitPrice !== undefined && item.unitPrice !== 0) {
    throw fieldRefusal(`${path}.unitPrice`, 'must be omitted or 0 for a user_priced item');
  }
  return { itemType: 'user_priced', productId: item.productId ?? '', quantity: 1, unitPrice: 0 };
}

function mismatch(detail: string, param = 'lineItems'): Refusal {
  return new Refusal('link_items_mismatch', { detail, param });
}

/** Whether line items take at most 64 KiB as JSON, with the data of their products. */
export function doItemsFit(items: readonly LineItem[]): boolean {
  return Buffer.byteLength(JSON.stringify(items)) <= maxLineItemsBytes;
}

/** Refuses larger line items (400101). */
export function assertItemsFit(items: readonly LineItem[]): void {
  if (doItemsFit(items)) return;
  const reason = `must take at most ${maxLineItemsBytes} bytes as JSON, with the data of their products`;
  throw fieldRefusal('lineItems', reason);
}

/** Whether a link that is active until this time has ended; false without an end. */
export function hasEnded(activeUntil: Date | undefined, now: Date): boolean {
  return activeUntil !== undefined && activeUntil <= now;
}

/** Whether a link has had as many final payments as its limit allows; false without a limit. */
export function isLimitReached(maxPayments: number | undefined, paymentCount: bigint): boolean {
  return maxPayments !== undefined && paymentCount >= maxPayments;
}

/** Why the link takes no payment, as far as payers are told: the merchant's other reasons are not theirs to know. */
export function reasonForPayers({ disabledReason }: StoredLink): 'limit_reached' | 'ended' | undefined {
  return disabledReason === 'limit_reached' || disabledReason === 'ended' ? disabledReason : undefined;
}

/** Refuses a payer of a disabled link (100103), with the reason that payers are told. */
export function notActive(link: StoredLink): Refusal {
  const reason = reasonForPayers(link);
  return new Refusal('link_not_active', reason === undefined ? link.linkId : `${link.linkId}: ${reason}`);
}

/** The sum of the items, 0 for a custom link. Refuses totals over ten million dollars with 100209. */
export function linkAmountOf(items: readonly LinkItem[]): MicroUsd {
  const sum = items.reduce((total, item) => total + BigInt(item.unitPrice) * BigInt(item.quantity), 0n);
  if (sum > maxMicroUsd)
    throw new Refusal('amount_out_of_range', `the total is over ${maxMicroUsd} Micro-USD`);
  return microUsd(sum);
}

/** A price in a settlement token, to find out whether any route takes it. */
export interface LinkPrice {
  readonly settlementToken: string;
  readonly paymentValue: MicroUsd;
  readonly feeModel: FeeModel;
}

/**
 * Refuses a settlement token whose chain is not configured (400202), that is not configured itself (400201), or that
 * the account does not take (100404).
 */
export function assertSettlementToken(chains: Chains, tokenId: string, enabled: readonly string[]): void {
  const chainName = tokenId.split('::', 1)[0] ?? '';
  if (tokenId.includes('::') && chains.byName(chainName) === undefined) {
    throw new Refusal('channel_unsupported', { detail: chainName, param: 'settlementToken' });
  }
  if (chains.token(tokenId) === undefined) {
    throw new Refusal('currency_unsupported', { detail: tokenId, param: 'settlementToken' });
  }
  if (!enabled.includes(tokenId)) {
    throw new Refusal('settlement_token_not_enabled', { detail: tokenId, param: 'settlementToken' });
  }
}

/**
 * Refuses products that are missing or archived. There is one code when all named products fail the rule, and another when
 * only some do.
 */
export function assertSellable(
  productIds: readonly string[],
  products: ReadonlyMap<string, ItemProduct>,
): void {
  const missing = productIds.filter((productId) => !products.has(productId));
  if (missing.length > 0) {
    throw new Refusal(
      missing.length === productIds.length ? 'product_not_found' : 'products_missing',
      missing.join(', '),
    );
  }
  const archived = productIds.filter((productId) => products.get(productId)?.status !== 'active');
  if (archived.length > 0) {
    const slug = archived.length === productIds.length ? 'product_not_active' : 'products_not_active';
    throw new Refusal(slug, archived.join(', '));
  }
}
