import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { newId } from '@florin/protocol/id.ts';
import type { LineItem, ProductData } from '@florin/protocol/line-item.ts';
import { type MicroUsd, maxMicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { type SessionCreateBody, sessionLifeSeconds } from '@florin/protocol/session.ts';
import type { VersionedProduct } from '#catalog/product.ts';
import { assertItemsFit, assertSettlementToken } from '#links/link-terms.ts';
import { assertRouteOpen, type PaymentRoute, quoteOf, routeFrom, routesTo } from '#orders/quote.ts';
import { type Clock, unixSeconds } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import type { SessionContext } from './context.ts';
import type { TermsReader } from './terms-reader.ts';

/** A merchant's request for a checkout session. */
export interface CheckoutRequest {
  readonly merchantId: string;
  readonly body: SessionCreateBody;
  /** The merchant's metadata, byte for byte. */
  readonly metadataText: string;
  /** The hosted URL for each imageUrl of a one_time item that there is an image for. */
  readonly hostedImages?: ReadonlyMap<string, string>;
}

type TermsContext = Pick<SessionContext, 'chains' | 'rates' | 'clock' | 'random'>;

/** The checked terms of a checkout request, with everything that it names. */
export interface CheckoutTerms {
  readonly account: { readonly accountId: string; readonly version: string; readonly address: Hex };
  readonly items: readonly LineItem[];
  /** The products that are sold, as they were read. */
  readonly products: readonly VersionedProduct[];
  readonly amount: MicroUsd;
  readonly expirationTime: Date;
}

const noImages: ReadonlyMap<string, string> = new Map();
const noProducts: ReadonlyMap<string, VersionedProduct> = new Map();

type ItemBody = SessionCreateBody['lineItems'][number];

/** Checks a checkout request against the merchant's account, products and the configured routes. Writes nothing. */
export async function checkoutTerms(
  reader: TermsReader,
  deps: TermsContext,
  { merchantId, body, hostedImages = noImages }: CheckoutRequest,
): Promise<CheckoutTerms> {
  const expirationTime = expirationOf(deps.clock, body.expirationTime);
  const productIds = productIdsOf(body.lineItems);
  const [account, products] = await Promise.all([
    reader.account(merchantId, body.accountId),
    productIds.length === 0 ? noProducts : reader.products(merchantId, productIds),
  ]);
  if (account === undefined)
    throw new Refusal('account_not_found', { detail: body.accountId, param: 'accountId' });
  if (account.status !== 'normal')
    throw new Refusal('account_removed', { detail: body.accountId, param: 'accountId' });
  if (account.isSuspended)
    throw new Refusal('merchant_suspended', 'the operator takes no new sessions for it');
  assertSettlementToken(deps.chains, body.settlementToken, account.settlementCurrencies);
  const items = snapshotItems(deps.random, body.lineItems, productIds, { products, hostedImages });
  assertItemsFit(items);
  const amount = items.reduce((sum, item) => sum + BigInt(item.unitPrice) * BigInt(item.quantity), 0n);
  if (amount > maxMicroUsd)
    throw new Refusal('amount_out_of_range', `the total is over ${maxMicroUsd} Micro-USD`);
  const price = { paymentValue: microUsd(amount), feeModel: body.feeModel ?? 1 } as const;
  assertPayable(deps, body.settlementToken, price);
  return {
    account: { accountId: account.accountId, version: account.version, address: account.accountAddress },
    items,
    products: [...products.values()],
    amount: price.paymentValue,
    expirationTime,
  };
}

/** Refuses a price that no route takes, or only routes with an unavailable chain. */
function assertPayable(
  { chains, rates }: TermsContext,
  tokenId: string,
  price: { readonly paymentValue: MicroUsd; readonly feeModel: 1 | 2 },
): void {
  const takes = (route: PaymentRoute) => quoteOf(route, price) !== undefined;
  // One open route is enough. The settlement token itself mostly has one, so it is checked first.
  const own = routeFrom(chains, rates, { paymentTokenId: tokenId, settlementTokenId: tokenId });
  if (own !== undefined && own.condition.status !== 'unavailable' && takes(own)) return;
  const payable = routesTo(chains, rates, tokenId).filter(takes);
  const [first] = payable;
  if (first === undefined) throw new Refusal('amount_out_of_range', 'no route takes this total');
  // No route is open when the settlement chain is unavailable.
  if (payable.every((route) => route.condition.status === 'unavailable')) assertRouteOpen(first);
}

function expirationOf(clock: Clock, requested: number | undefined): Date {
  const now = unixSeconds(clock.now());
  const { minimum, grace, maximum } = sessionLifeSeconds;
  const seconds = requested ?? now + minimum;
  if (seconds < now + minimum - grace || seconds > now + maximum) {
    throw new Refusal('expiration_out_of_range', {
      param: 'expirationTime',
      detail: `expirationTime must be between now + ${minimum} s and now + ${maximum} s`,
    });
  }
  return new Date(seconds * 1000);
}

function productIdsOf(items: readonly ItemBody[]): string[] {
  const productIds = items.map((item, index) => {
    const path = `lineItems[${index}]`;
    if (item.itemType === 'product') {
      if (item.productId === undefined || item.productId === '')
        throw fieldRefusal(`${path}.productId`, 'is required');
      if (item.productData !== undefined)
        throw fieldRefusal(`${path}.productData`, 'is only for one_time items');
      return item.productId;
    }
    if (item.productId !== undefined && item.productId !== '') {
      throw fieldRefusal(`${path}.productId`, 'must be empty for a one_time item');
    }
    for (const field of ['quantity', 'unitPrice', 'productData'] as const) {
      if (item[field] === undefined)
        throw fieldRefusal(`${path}.${field}`, 'is required for a one_time item');
    }
    return '';
  });
  return [...new Set(productIds.filter((productId) => productId !== ''))];
}

function snapshotItems(
  random: Random,
  items: readonly ItemBody[],
  productIds: readonly string[],
  {
    products,
    hostedImages,
  }: {
    products: ReadonlyMap<string, VersionedProduct>;
    hostedImages: ReadonlyMap<string, string>;
  },
): LineItem[] {
  assertAll(productIds, (id) => products.has(id), 'product_not_found', 'products_missing');
  assertAll(
    productIds,
    (id) => products.get(id)?.status === 'active',
    'product_not_active',
    'products_not_active',
  );
  return items.map((item) => {
    const product = products.get(item.productId ?? '');
    const data: ProductData | undefined = product?.productData ?? oneTimeData(item, hostedImages);
    const snapshot = {
      lineItemId: newId('lineItem', random.bytes),
      itemType: item.itemType,
      productId: item.productId ?? '',
      quantity: item.quantity ?? 1,
      unitPrice: item.unitPrice ?? Number(product?.commonPrices[0]),
    };
    return data === undefined ? snapshot : { ...snapshot, productData: data };
  });
}

function oneTimeData(item: ItemBody, hostedImages: ReadonlyMap<string, string>): ProductData | undefined {
  const data = item.productData;
  if (data === undefined) return undefined;
  return {
    productName: data.productName,
    productDescription: data.productDescription ?? '',
    // Payers see images of our own origin only.
    imageUrl: hostedImages.get(data.imageUrl ?? '') ?? '',
    attributes: data.attributes ?? [],
  };
}

/** Refuses products that fail a rule: with one code when all of them fail, and another when some do. */
function assertAll(
  productIds: readonly string[],
  holds: (productId: string) => boolean,
  allFail: 'product_not_found' | 'product_not_active',
  someFail: 'products_missing' | 'products_not_active',
): void {
  const failing = productIds.filter((productId) => !holds(productId));
  if (failing.length === 0) return;
  throw new Refusal(failing.length === productIds.length ? allFail : someFail, failing.join(', '));
}
