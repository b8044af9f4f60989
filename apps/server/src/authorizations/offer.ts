import type { PricingModel, SupportedPaymentToken } from '@florin/protocol/agent-view.ts';
import type { FeeModel } from '@florin/protocol/fee.ts';
import { formatUsd, type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { StoredLink } from '#links/stored-link.ts';
import {
  type AmountBounds,
  type PaymentRoute,
  type Quote,
  quoteOf,
  quoteOfTotal,
  routeFrom,
  routesTo,
  totalBounds,
  widestOf,
} from '#orders/quote.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { AuthorizationContext } from './context.ts';

type OfferContext = Pick<AuthorizationContext, 'chains' | 'rates'>;

/** The price of a purchase: fixed, a total that the payer chose, or not chosen yet (custom links). */
export type Price =
  | { readonly kind: 'price'; readonly paymentValue: MicroUsd }
  | { readonly kind: 'total'; readonly totalValue: MicroUsd }
  | { readonly kind: 'open' };

/** The terms that decide what a payer pays. */
export interface Terms {
  readonly settlementToken: string;
  readonly feeModel: FeeModel;
  readonly price: Price;
}

export function linkTerms(link: StoredLink): Terms {
  const { settlementToken, feeModel } = link;
  const price: Price =
    link.linkType === 'custom' ? { kind: 'open' } : { kind: 'price', paymentValue: link.amount };
  return { settlementToken, feeModel, price };
}

export function sessionTerms(session: StoredSession): Terms {
  const { settlementToken, feeModel, chosenTotal } = session;
  const price: Price =
    chosenTotal === undefined
      ? { kind: 'price', paymentValue: session.amount }
      : { kind: 'total', totalValue: chosenTotal };
  return { settlementToken, feeModel, price };
}

/** What a price or total costs on a route; undefined when the route does not take it or no total is chosen yet. */
export function quoteFor(route: PaymentRoute, { price, feeModel }: Terms): Quote | undefined {
  if (price.kind === 'price') return quoteOf(route, { paymentValue: price.paymentValue, feeModel });
  if (price.kind === 'total') return quoteOfTotal(route, { totalValue: price.totalValue, feeModel });
  return undefined;
}

/** One token of an offer, with the whole amount that the payer pays. Fee model 2 includes the fee. */
export function offeredToken(route: PaymentRoute, quote: Quote | undefined): SupportedPaymentToken {
  const { chainName, chainId, address, name, symbol, decimals } = route.paymentToken;
  return {
    chainName,
    chainId: chainId.toString(),
    tokenAddress: address,
    name,
    symbol,
    decimals,
    amountInToken: (quote?.amountInToken ?? 0n).toString(),
    amountInUSD: formatUsd(quote?.amounts.totalValue ?? microUsd(0)),
    status: route.condition.status,
    statusReason: route.condition.reason,
  };
}

/**
 * One token whose amount the payer chooses, with the bounds of the total; undefined when the route accepts no total.
 */
export function openToken(route: PaymentRoute, feeModel: FeeModel): SupportedPaymentToken | undefined {
  const bounds = totalBounds(route, feeModel);
  return bounds === undefined ? undefined : { ...offeredToken(route, undefined), ...boundsInUsd(bounds) };
}

function offerOf(route: PaymentRoute, terms: Terms): SupportedPaymentToken | undefined {
  if (terms.price.kind === 'open') return openToken(route, terms.feeModel);
  const quote = quoteFor(route, terms);
  return quote === undefined ? undefined : offeredToken(route, quote);
}

/**
 * Every token that can pay these terms, the settlement token first and those of an unavailable chain last. Omits tokens
 * whose route does not take the amount.
 */
export function offeredTokens(deps: OfferContext, terms: Terms): SupportedPaymentToken[] {
  const isClosed = ({ status }: SupportedPaymentToken) => Number(status === 'unavailable');
  return routesTo(deps.chains, deps.rates, terms.settlementToken)
    .flatMap((route) => offerOf(route, terms) ?? [])
    .sort((left, right) => isClosed(left) - isClosed(right));
}

/** The offer of one token; undefined where `offeredTokens` would omit it. */
export function offeredTokenOf(
  deps: OfferContext,
  terms: Terms,
  paymentTokenId: string,
): SupportedPaymentToken | undefined {
  const ends = { paymentTokenId, settlementTokenId: terms.settlementToken };
  const route = routeFrom(deps.chains, deps.rates, ends);
  return route === undefined ? undefined : offerOf(route, terms);
}

/** How the price is set. Open prices get the widest bounds of the total over all offered tokens. */
export function pricingModelOf(deps: OfferContext, terms: Terms): PricingModel {
  if (terms.price.kind === 'price') return { type: 'fixed' };
  if (terms.price.kind === 'total') return { type: 'custom' };
  const routes = routesTo(deps.chains, deps.rates, terms.settlementToken);
  const bounds = widestOf(routes.flatMap((route) => totalBounds(route, terms.feeModel) ?? []));
  return bounds === undefined ? { type: 'custom' } : { type: 'custom', ...boundsInUsd(bounds) };
}

/** Bounds as views show them, in US dollars. */
interface BoundsInUsd {
  readonly minAmountInUSD: string;
  readonly maxAmountInUSD: string;
}

function boundsInUsd({ least, most }: AmountBounds): BoundsInUsd {
  return { minAmountInUSD: formatUsd(least), maxAmountInUSD: formatUsd(most) };
}
