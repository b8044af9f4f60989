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
export interface Route {
  readonly paymentToken: Token;
  readonly settlementToken: Token;
  readonly kind: RouteKind;
  readonly feePpm: FeePpm;
  /** How the money gets there, unless a price asks for another way (see `Quote.orderType`). */
  readonly orderType: OrderType;
  /** Every way, the preferred one first. Never empty. */
  readonly ways: readonly Way[];
  /** The highest price (paymentValue) that any of the ways takes, in Micro-USD; `priceBounds` has the least one too. */
  readonly maxPaymentValue: MicroUsd;
  /** How the worse of the two chains is at the moment. */
  readonly condition: Pick<ChainCondition, 'status' | 'reason'>;
}

/** One way of the money over a route, and the highest price that it takes, in Micro-USD. */
export interface Way {
  readonly orderType: OrderType;
  readonly maxPaymentValue: MicroUsd;
  /** The highest price that it could settle at once, as things stand; the others have to wait for more float. */
  readonly readyValue: MicroUsd;
}

/** The least and the highest amount that is taken, in Micro-USD, both of them included. */
export interface AmountBounds {
  readonly least: MicroUsd;
  readonly most: MicroUsd;
}

/** What one payer would pay on one route. */
export interface Quote {
  readonly route: Route;
  /** The way that this price takes. */
  readonly orderType: OrderType;
  readonly amounts: PaymentAmounts;
  /** totalValue in units of the payment token: exactly what the payer signs and pays. */
  readonly amountInToken: TokenAmount;
}

/**
 * Every route to a settlement token, the same token first; empty when the token is not configured. What the vault could
 * not pay out at all is no route.
 */
export function routesTo(chains: Chains, rates: FeeRates, settlementTokenId: string): readonly Route[] {
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
): Route | undefined {
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
): Route | undefined {
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

function routeBy(ways: readonly Way[]): Pick<Route, 'orderType' | 'ways' | 'maxPaymentValue'> {
  const [first = escrow] = ways;
  const maxPaymentValue = ways.reduce((most, way) => largerOf(most, way.maxPaymentValue), microUsd(0n));
  return { orderType: first.orderType, ways, maxPaymentValue };
}

function largerOf(left: MicroUsd, right: MicroUsd): MicroUsd {
  return left > right ? left : right;
}

/** No price is higher than an amount can be, whatever a vault would pay. */
function smallerOf(left: MicroUsd, right: MicroUsd): MicroUsd {
  return left < right ? left : right;
}

/**
 * The table of routes. A vault is the first choice: its payout costs a third of a burn and a mint, and comes as soon as the
 * settlement is final, while a burn has to be attested besides. Another token, or a token that Circle does not mint,
 * has no other way.
 */
function waysBetween(chains: Chains, paymentToken: Token, settlementToken: Token): readonly Way[] {
  const ways: Way[] = [];
  // Paid out of the operator's float, at par: no more than the vault pays for one order, or the payment could be taken and
  // never be settled.
  const cap = smallerOf(chains.conditions?.payoutCap(settlementToken.tokenId) ?? unlimited, unlimited);
  const liquid = chains.conditions?.payoutLiquidity?.(settlementToken.tokenId) ?? cap;
  if (cap > 0n) {
    ways.push({ orderType: orderKinds.vaultPayout, maxPaymentValue: cap, readyValue: liquid });
  }
  const [from, to] = [chains.byId(paymentToken.chainId), chains.byId(settlementToken.chainId)];
  const isBurnt = from?.cctp?.tokenId === paymentToken.tokenId && from.chainId !== to?.chainId;
  if (isBurnt && to?.cctp?.tokenId === settlementToken.tokenId) {
    const maxPerOrder = smallerOf(from.cctp.maxPerOrder, unlimited);
    ways.push({ orderType: orderKinds.cctp, maxPaymentValue: maxPerOrder, readyValue: maxPerOrder });
  }
  return ways;
}

/** The first way that can settle the price at once, else the first that takes it at all. */
function wayOf(route: Route, paymentValue: MicroUsd): Way | undefined {
  return (
    route.ways.find((way) => paymentValue <= way.readyValue && paymentValue <= way.maxPaymentValue) ??
    route.ways.find((way) => paymentValue <= way.maxPaymentValue)
  );
}

const available = { status: 'available', reason: '' } as const;

function conditionOf(chains: Chains, token: Token): Route['condition'] {
  return chains.conditions?.of(token.chainId) ?? available;
}

function worseOf(left: Route['condition'], right: Route['condition']): Route['condition'] {
  const rank = { available: 0, delayed: 1, unavailable: 2 };
  const { status, reason } = rank[right.status] > rank[left.status] ? right : left;
  return { status, reason };
}

/**
 * The same quote with the money passed straight on to the merchant in the transaction that pays. As it is where that
 * cannot be: into another token, or on another chain.
 */
export function passedStraightOn(quote: Quote): Quote {
  return quote.route.kind === 'same_token' ? { ...quote, orderType: orderKinds.direct } : quote;
}

/** Refuses (900401) to begin a payment over a route that nobody watches at the moment: it would stay unseen for as long. */
export function assertRouteOpen(route: Route): void {
  if (route.condition.status !== 'unavailable') return;
  const { paymentToken, settlementToken } = route;
  throw new Refusal(
    'chain_unavailable',
    `${paymentToken.tokenId} to ${settlementToken.tokenId}: ${route.condition.reason}`,
  );
}

/**
 * The prices (paymentValue) that a route takes; undefined where it takes none. Every bound that is shown comes from here
 * or from `totalBounds`, and every quote is held against them.
 */
export function priceBounds(route: Route, feeModel: FeeModel): AmountBounds | undefined {
  const least = leastPriceOf(route.feePpm, feeModel);
  const most = route.maxPaymentValue;
  return least === undefined || least > most ? undefined : { least, most };
}

/** The totals that a payer may choose on a route (custom links); undefined where it takes none. */
export function totalBounds(route: Route, feeModel: FeeModel): AmountBounds | undefined {
  const prices = priceBounds(route, feeModel);
  if (prices === undefined) return undefined;
  const totalOf = (price: MicroUsd) => amountsOf(price, route.feePpm, feeModel).totalValue;
  return { least: totalOf(prices.least), most: totalOf(prices.most) };
}

/** From the least to the highest amount that any of several takes; undefined of none. */
export function widestOf(bounds: readonly AmountBounds[]): AmountBounds | undefined {
  const [first, ...others] = bounds;
  if (first === undefined) return undefined;
  return others.reduce(
    (wide, { least, most }) => ({ least: smallerOf(least, wide.least), most: largerOf(most, wide.most) }),
    first,
  );
}

/** The refusal (100209) of an amount that a route does not take; it names the bounds. */
export function outOfBounds(route: Route, bounds: AmountBounds | undefined, param?: string): Refusal {
  const range =
    bounds === undefined ? 'no amount' : `${formatUsd(bounds.least)} to ${formatUsd(bounds.most)} USD`;
  const detail = `${route.paymentToken.tokenId} takes ${range}`;
  return new Refusal('amount_out_of_range', { detail, param });
}

function isWithin(bounds: AmountBounds | undefined, value: MicroUsd): boolean {
  return bounds !== undefined && bounds.least <= value && value <= bounds.most;
}

/** What a price costs on a route; undefined when the route does not take it or would leave the merchant nothing. */
export function quoteOf(
  route: Route,
  { paymentValue, feeModel }: { paymentValue: MicroUsd; feeModel: FeeModel },
): Quote | undefined {
  if (!isWithin(priceBounds(route, feeModel), paymentValue)) return undefined;
  return quoteWith(route, amountsOf(paymentValue, route.feePpm, feeModel));
}

/** What a total chosen by the payer (custom links) buys on a route; undefined when the route does not take it. */
export function quoteOfTotal(
  route: Route,
  { totalValue, feeModel }: { totalValue: MicroUsd; feeModel: FeeModel },
): Quote | undefined {
  if (!isWithin(totalBounds(route, feeModel), totalValue)) return undefined;
  return quoteWith(route, amountsOfTotal(totalValue, route.feePpm, feeModel));
}

function quoteWith(route: Route, amounts: PaymentAmounts): Quote {
  const way = wayOf(route, amounts.paymentValue);
  if (way === undefined) throw new Error(`no way takes ${amounts.paymentValue}, which is within the bounds`);
  const amountInToken = toTokenAmount(amounts.totalValue, route.paymentToken.decimals);
  return { route, orderType: way.orderType, amounts, amountInToken };
}
