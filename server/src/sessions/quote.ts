import { amountsOf, amountsOfTotal, type FeePpm, type PaymentAmounts } from '@florin/protocol/fee.ts';
import {
  type MicroUsd,
  maxMicroUsd,
  microUsd,
  type TokenAmount,
  toTokenAmount,
} from '@florin/protocol/money.ts';
import { type OrderType, orderKinds } from '@florin/protocol/order.ts';
import type { RouteKind, Token } from '@florin/protocol/token.ts';
import type { Chains } from '#chains/chain.ts';

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
  readonly orderType: OrderType;
  /** Bounds of the price (paymentValue) that this route takes, in Micro-USD. */
  readonly minPaymentValue: MicroUsd;
  readonly maxPaymentValue: MicroUsd;
}

/** What one payer would pay on one route. */
export interface Quote {
  readonly route: Route;
  readonly amounts: PaymentAmounts;
  /** totalValue in units of the payment token: exactly what the payer signs and pays. */
  readonly amountInToken: TokenAmount;
}

/** Every route to a settlement token, the same token first; empty when the token is not configured. */
export function routesTo(chains: Chains, rates: FeeRates, settlementTokenId: string): readonly Route[] {
  const settlementToken = chains.token(settlementTokenId);
  if (settlementToken === undefined) return [];
  const order: Record<RouteKind, number> = { same_token: 0, same_chain: 1, cross_chain: 2 };
  return chains.tokens
    .map((paymentToken) => routeBetween(paymentToken, settlementToken, rates))
    .sort((left, right) => order[left.kind] - order[right.kind]);
}

/** The route from one payment token to a settlement token; undefined when either is not configured. */
export function routeFrom(
  chains: Chains,
  rates: FeeRates,
  ends: { paymentTokenId: string; settlementTokenId: string },
): Route | undefined {
  const paymentToken = chains.token(ends.paymentTokenId);
  const settlementToken = chains.token(ends.settlementTokenId);
  if (paymentToken === undefined || settlementToken === undefined) return undefined;
  return routeBetween(paymentToken, settlementToken, rates);
}

function routeBetween(paymentToken: Token, settlementToken: Token, rates: FeeRates): Route {
  const ends = {
    paymentToken,
    settlementToken,
    minPaymentValue: microUsd(1n),
    maxPaymentValue: microUsd(maxMicroUsd),
  };
  if (paymentToken.tokenId === settlementToken.tokenId) {
    return { ...ends, kind: 'same_token', feePpm: rates.sameToken, orderType: orderKinds.escrow };
  }
  const kind = paymentToken.chainId === settlementToken.chainId ? 'same_chain' : 'cross_chain';
  const feePpm = kind === 'same_chain' ? rates.sameChain : rates.crossChain;
  // Another token is paid out of the operator's float, at par, whether on this chain or on another.
  return { ...ends, kind, feePpm, orderType: orderKinds.vaultPayout };
}

/** What a price costs on a route; undefined when the route does not take it or would leave the merchant nothing. */
export function quoteOf(route: Route, price: { paymentValue: MicroUsd; feeModel: 1 | 2 }): Quote | undefined {
  return checkedQuote(route, amountsOf(price.paymentValue, route.feePpm, price.feeModel));
}

/** What a total chosen by the payer (custom links) buys on a route; undefined when the route does not take it. */
export function quoteOfTotal(
  route: Route,
  choice: { totalValue: MicroUsd; feeModel: 1 | 2 },
): Quote | undefined {
  return checkedQuote(route, amountsOfTotal(choice.totalValue, route.feePpm, choice.feeModel));
}

function checkedQuote(route: Route, amounts: PaymentAmounts): Quote | undefined {
  const { paymentValue, netValue } = amounts;
  if (paymentValue < route.minPaymentValue || paymentValue > route.maxPaymentValue || netValue <= 0n)
    return undefined;
  return { route, amounts, amountInToken: toTokenAmount(amounts.totalValue, route.paymentToken.decimals) };
}
