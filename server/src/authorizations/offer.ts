import type { PricingModel, SupportedPaymentToken } from '@florin/protocol/agent-view.ts';
import type { FeeModel } from '@florin/protocol/fee.ts';
import { amountsOf } from '@florin/protocol/fee.ts';
import { formatUsd, type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Chains } from '#chains/chain.ts';
import type { StoredLink } from '#links/stored-link.ts';
import {
  type FeeRates,
  type Quote,
  quoteOf,
  quoteOfTotal,
  type Route,
  routeFrom,
  routesTo,
} from '#sessions/quote.ts';
import type { StoredSession } from '#sessions/stored-session.ts';

interface OfferDeps {
  readonly chains: Chains;
  readonly rates: FeeRates;
}

/** What is to be paid: a price, a total that the payer has chosen, or nothing yet (custom links). */
export type Price =
  | { readonly kind: 'price'; readonly paymentValue: MicroUsd }
  | { readonly kind: 'total'; readonly totalValue: MicroUsd }
  | { readonly kind: 'open' };

/** The terms that decide what a payer is asked for. */
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

/** What a price or total costs on a route; undefined when the route does not take it, or nothing is chosen yet. */
export function quoteFor(route: Route, { price, feeModel }: Terms): Quote | undefined {
  if (price.kind === 'price') return quoteOf(route, { paymentValue: price.paymentValue, feeModel });
  if (price.kind === 'total') return quoteOfTotal(route, { totalValue: price.totalValue, feeModel });
  return undefined;
}

/** One token as an offer shows it: the whole amount that the payer pays, the fee of fee model 2 included. */
export function offeredToken(route: Route, quote: Quote | undefined): SupportedPaymentToken {
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
  };
}

/** Every token that pays these terms, the settlement token first. Tokens whose route does not take the amount are left out. */
export function offeredTokens(deps: OfferDeps, terms: Terms): SupportedPaymentToken[] {
  const tokens: SupportedPaymentToken[] = [];
  for (const route of routesTo(deps.chains, deps.rates, terms.settlementToken)) {
    const quote = quoteFor(route, terms);
    if (quote !== undefined || terms.price.kind === 'open') tokens.push(offeredToken(route, quote));
  }
  return tokens;
}

/** The offer of one token alone; undefined where it would be left out. */
export function offeredTokenOf(
  deps: OfferDeps,
  terms: Terms,
  paymentTokenId: string,
): SupportedPaymentToken | undefined {
  const ends = { paymentTokenId, settlementTokenId: terms.settlementToken };
  const route = routeFrom(deps.chains, deps.rates, ends);
  const quote = route === undefined ? undefined : quoteFor(route, terms);
  return route === undefined || quote === undefined ? undefined : offeredToken(route, quote);
}

/** How the price comes about; for open prices with the bounds of the total that the payer may choose. */
export function pricingModelOf(deps: OfferDeps, terms: Terms): PricingModel {
  if (terms.price.kind === 'price') return { type: 'fixed' };
  if (terms.price.kind === 'total') return { type: 'custom' };
  const bounds = routesTo(deps.chains, deps.rates, terms.settlementToken).map((route) =>
    boundsOf(route, terms.feeModel),
  );
  // Whatever lies between these is taken in every token that is offered.
  const leasts = bounds.map(({ min }) => min).sort(ascending);
  const mosts = bounds.map(({ max }) => max).sort(ascending);
  const [least, most] = [leasts.at(-1), mosts[0]];
  if (least === undefined || most === undefined) return { type: 'custom' };
  return { type: 'custom', minAmountInUSD: formatUsd(least), maxAmountInUSD: formatUsd(most) };
}

function ascending(left: bigint, right: bigint): number {
  return left < right ? -1 : 1;
}

/** The least and the largest total that a route takes. */
function boundsOf(route: Route, feeModel: FeeModel): { min: MicroUsd; max: MicroUsd } {
  const { minPaymentValue, maxPaymentValue, feePpm } = route;
  const max = feeModel === 1 ? maxPaymentValue : amountsOf(maxPaymentValue, feePpm, feeModel).totalValue;
  // One or two Micro-USD may be all fee, which leaves the merchant nothing.
  for (let total = minPaymentValue; total < minPaymentValue + 4n; total = microUsd(total + 1n)) {
    if (quoteOfTotal(route, { totalValue: total, feeModel }) !== undefined) return { min: total, max };
  }
  return { min: minPaymentValue, max };
}
