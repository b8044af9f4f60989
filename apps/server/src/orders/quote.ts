import { Refusal } from '@florin/protocol/error.ts';
import {
  amountsOf,
  amountsOfTotal,
  type FeeModel,
  type FeePpm,
  leastPriceOf,
  type PaymentAmounts,
} from '@florin/protocol/fee.ts';
import {
  formatUsd,
  type MicroUsd,
  maxMicroUsd,
  microUsd,
  type TokenAmount,
  toTokenAmount,
} from '@florin/protocol/money.ts';
import { type OrderType, orderKinds } from '@florin/protocol/order.ts';
import type { RouteKind, Token } from '@florin/protocol/token.ts';
import type { ChainCondition, Chains } from '#chains/chain.ts';

/** Fee rates by route, in parts per million. */
export interface FeeRates {
  readonly sameToken: FeePpm;
  readonly sameChain: FeePpm;
  readonly crossChain: FeePpm;
}

/** One way to pay towards a settlement token. */
export interface PaymentRoute {
  readonly paymentToken: Token;
  readonly settlementToken: Token;
  readonly kind: RouteKind;
  readonly feePpm: FeePpm;
  /** The preferred way. A price may need another one (see `Quote.orderType`). */
  readonly orderType: OrderType;
  /** All ways, the preferred one first. Never empty. */
  readonly ways: readonly Way[];
  /** The highest price (paymentValue) that any way takes, in Micro-USD. For both bounds see `priceBounds`. */
  readonly maxPaymentValue: MicroUsd;
  /** The condition of the worse of the two chains. */
  readonly condition: Pick<ChainCondition, 'status'> & {
    readonly reason: ChainCondition['reason'] | 'token_stopped' | 'token_paused';
  };
}

/** A way to move the money over a route, and the highest price that it takes, in Micro-USD. */
export interface Way {
  readonly orderType: OrderType;
  readonly maxPaymentValue: MicroUsd;
  /** The highest price that it can settle at once. Higher ones wait for more float. */
  readonly readyValue: MicroUsd;
}

/** The lowest and the highest amount that is accepted, both inclusive, in Micro-USD. */
export interface AmountBounds {
  readonly least: MicroUsd;
  readonly most: MicroUsd;
}

/** What one payer would pay on one route. */
export interface Quote {
  readonly route: PaymentRoute;
  /** The way that this price takes. */
  readonly orderType: OrderType;
  readonly amounts: PaymentAmounts;
  /** totalValue in units of the payment token: exactly what the payer signs and pays. */
  readonly amountInToken: TokenAmount;
}

/**
 * Every route to a settlement token, the same token first; empty when the token is not configured. Omits tokens that no
 * vault or burn can turn into the settlement token.
 */
export function routesTo(
  chains: Chains,
  rates: FeeRates,
  settlementTokenId: string,
): readonly PaymentRoute[] {
  const settlementToken = chains.token(settlementTokenId);
  if (settlementToken === undefined) return [];
  const order: Record<RouteKind, number> = { same_token: 0, same_chain: 1, cross_chain: 2 };
  return chains.tokens
    .flatMap((paymentToken) => routeBetween(chains, paymentToken, settlementToken, rates) ?? [])
    .sort((left, right) => order[left.kind] - order[right.kind]);
}

/** The route from one payment token to a settlement token; undefined when there is none. */
export function routeFrom(
  chains: Chains,
  rates: FeeRates,
  ends: { paymentTokenId: string; settlementTokenId: string },
): PaymentRoute | undefined {
  const paymentToken = chains.token(ends.paymentTokenId);
  const settlementToken = chains.token(ends.settlementTokenId);
  if (paymentToken === undefined || settlementToken === undefined) return undefined;
  return routeBetween(chains, paymentToken, settlementToken, rates);
}

function routeBetween(
  chains: Chains,
  paymentToken: Token,
  settlementToken: Token,
  rates: FeeRates,
): PaymentRoute | undefined {
  const ends = {
    paymentToken,
    settlementToken,
    condition: worseOf(conditionOf(chains, paymentToken), conditionOf(chains, settlementToken)),
  };
  if (paymentToken.tokenId === settlementToken.tokenId) {
    return { ...ends, ...routeBy([escrow]), kind: 'same_token', feePpm: rates.sameToken };
  }
  const kind = paymentToken.chainId === settlementToken.chainId ? 'same_chain' : 'cross_chain';
  const feePpm = kind === 'same_chain' ? rates.sameChain : rates.crossChain;
  const ways = waysBetween(chains, paymentToken, settlementToken);
  return ways.length === 0 ? undefined : { ...ends, ...routeBy(ways), kind, feePpm };
}

const unlimited = microUsd(maxMicroUsd);
const escrow: Way = { orderType: orderKinds.escrow, maxPaymentValue: unlimited, readyValue: unlimited };

function routeBy(ways: readonly Way[]): Pick<PaymentRoute, 'orderType' | 'ways' | 'maxPaymentValue'> {
  const [first = escrow] = ways;
  const maxPaymentValue = ways.reduce((most, way) => largerOf(most, way.maxPaymentValue), microUsd(0n));
  return { orderType: first.orderType, ways, maxPaymentValue };
}

function largerOf(left: MicroUsd, right: MicroUsd): MicroUsd {
  return left > right ? left : right;
}

function smallerOf(left: MicroUsd, right: MicroUsd): MicroUsd {
  return left < right ? left : right;
}

/**
 * The ways between two tokens. CCTP is the first choice where it joins the two: Circle mints exactly what was burnt, so payer
 * and merchant need not trust the operator between settlement and payout. A vault takes what is above CCTP's limit for one
 * order. For another token, or one that Circle does not mint, it is the only way.
 */
function waysBetween(chains: Chains, paymentToken: Token, settlementToken: Token): readonly Way[] {
  const ways: Way[] = [];
  const [from, to] = [chains.byId(paymentToken.chainId), chains.byId(settlementToken.chainId)];
  const isBurnt = from?.cctp?.tokenId === paymentToken.tokenId && from.chainId !== to?.chainId;
  if (isBurnt && to?.cctp?.tokenId === settlementToken.tokenId) {
    const maxPerOrder = smallerOf(from.cctp.maxPerOrder, unlimited);
    ways.push({ orderType: orderKinds.cctp, maxPaymentValue: maxPerOrder, readyValue: maxPerOrder });
  }
  // The vault pays from the operator's float, at par. A payment above its cap for one order could never be settled.
  const cap = smallerOf(chains.conditions?.payoutCap(settlementToken.tokenId) ?? unlimited, unlimited);
  const liquid = chains.conditions?.payoutLiquidity?.(settlementToken.tokenId) ?? cap;
  if (cap > 0n) {
    ways.push({ orderType: orderKinds.vaultPayout, maxPaymentValue: cap, readyValue: liquid });
  }
  return ways;
}

/** The first way that can settle the price at once, or else the first that takes it. */
function wayOf(route: PaymentRoute, paymentValue: MicroUsd): Way | undefined {
  return (
    route.ways.find((way) => paymentValue <= way.readyValue && paymentValue <= way.maxPaymentValue) ??
    route.ways.find((way) => paymentValue <= way.maxPaymentValue)
  );
}

const available = { status: 'available', reason: '' } as const;
/** By the operator. What was paid already settles. */
const stopped = { status: 'unavailable', reason: 'token_stopped' } as const;
/** By its issuer: every transfer of it reverts. */
const paused = { status: 'unavailable', reason: 'token_paused' } as const;

function conditionOf(chains: Chains, token: Token): PaymentRoute['condition'] {
  if (chains.conditions?.isStopped?.(token.tokenId) === true) return stopped;
  if (chains.conditions?.isPaused?.(token.tokenId) === true) return paused;
  return chains.conditions?.of(token.chainId) ?? available;
}

/**
 * Why no new order is signed in a token, whatever its chain does; undefined where orders are taken. A link or session that settles in
 * such a token takes no payment in any token.
 */
export function closureOf({ conditions }: Pick<Chains, 'conditions'>, tokenId: string) {
  if (conditions?.isStopped?.(tokenId) === true) return stopped.reason;
  return conditions?.isPaused?.(tokenId) === true ? paused.reason : undefined;
}

function worseOf(
  left: PaymentRoute['condition'],
  right: PaymentRoute['condition'],
): PaymentRoute['condition'] {
  const rank = { available: 0, delayed: 1, unavailable: 2 };
  const { status, reason } = rank[right.status] > rank[left.status] ? right : left;
  return { status, reason };
}

/** The quote of a direct payment. Unchanged for another token or another chain, where a payment cannot be direct. */
export function directQuote(quote: Quote): Quote {
  return quote.route.kind === 'same_token' ? { ...quote, orderType: orderKinds.direct } : quote;
}

/** Refuses (900401) a payment over a route with an unavailable chain: the service would not see it. */
export function assertRouteOpen(route: PaymentRoute): void {
  if (route.condition.status !== 'unavailable') return;
  const { paymentToken, settlementToken } = route;
  throw new Refusal(
    'chain_unavailable',
    `${paymentToken.tokenId} to ${settlementToken.tokenId}: ${route.condition.reason}`,
  );
}

/**
 * The prices (paymentValue) that a route takes; undefined when it takes none. All bounds that clients see, and all checks
 * of quotes, come from here and from `totalBounds`.
 */
export function priceBounds(route: PaymentRoute, feeModel: FeeModel): AmountBounds | undefined {
  const least = leastPriceOf(route.feePpm, feeModel);
  const most = route.maxPaymentValue;
  return least === undefined || least > most ? undefined : { least, most };
}

/** The totals that a payer may choose on a route (custom links); undefined when it takes none. */
export function totalBounds(route: PaymentRoute, feeModel: FeeModel): AmountBounds | undefined {
  const prices = priceBounds(route, feeModel);
  if (prices === undefined) return undefined;
  const totalOf = (price: MicroUsd) => amountsOf(price, route.feePpm, feeModel).totalValue;
  return { least: totalOf(prices.least), most: totalOf(prices.most) };
}

/** The widest range of several bounds; undefined for none. */
export function widestOf(bounds: readonly AmountBounds[]): AmountBounds | undefined {
  const [first, ...others] = bounds;
  if (first === undefined) return undefined;
  return others.reduce(
    (wide, { least, most }) => ({ least: smallerOf(least, wide.least), most: largerOf(most, wide.most) }),
    first,
  );
}

/** The refusal (100209) of an amount that a route does not take. It names the bounds. */
export function outOfBounds(route: PaymentRoute, bounds: AmountBounds | undefined, param?: string): Refusal {
  const range =
    bounds === undefined ? 'no amount' : `${formatUsd(bounds.least)} to ${formatUsd(bounds.most)} USD`;
  const detail = `${route.paymentToken.tokenId} takes ${range}`;
  return new Refusal('amount_out_of_range', { detail, param });
}

function isWithin(bounds: AmountBounds | undefined, value: MicroUsd): boolean {
  return bounds !== undefined && bounds.least <= value && value <= bounds.most;
}

/** The quote of a price on a route; undefined when the route does not take it or would leave the merchant nothing. */
export function quoteOf(
  route: PaymentRoute,
  { paymentValue, feeModel }: { paymentValue: MicroUsd; feeModel: FeeModel },
): Quote | undefined {
  if (!isWithin(priceBounds(route, feeModel), paymentValue)) return undefined;
  return quoteWith(route, amountsOf(paymentValue, route.feePpm, feeModel));
}

/** The quote of a total that the payer chose (custom links); undefined when the route does not take it. */
export function quoteOfTotal(
  route: PaymentRoute,
  { totalValue, feeModel }: { totalValue: MicroUsd; feeModel: FeeModel },
): Quote | undefined {
  if (!isWithin(totalBounds(route, feeModel), totalValue)) return undefined;
  return quoteWith(route, amountsOfTotal(totalValue, route.feePpm, feeModel));
}

function quoteWith(route: PaymentRoute, amounts: PaymentAmounts): Quote {
  const way = wayOf(route, amounts.paymentValue);
  if (way === undefined) throw new Error(`no way takes ${amounts.paymentValue}, which is within the bounds`);
  const amountInToken = toTokenAmount(amounts.totalValue, route.paymentToken.decimals);
  return { route, orderType: way.orderType, amounts, amountInToken };
}
