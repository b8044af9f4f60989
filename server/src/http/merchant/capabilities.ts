import type { Capabilities } from '@florin/protocol/capability.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { microUsdToNumber } from '@florin/protocol/money.ts';
import type { Chain, Chains } from '#chains/chain.ts';
import { type FeeRates, type Route, routesTo } from '#sessions/quote.ts';
import { rawJson } from '../raw-json.ts';
import type { AddRoute } from '../route-handler.ts';

/** GET /capabilities/all: what can be paid with what, and on which terms. Public. */
export function addCapabilityRoutes<Caller>(
  addRoute: AddRoute<Caller>,
  deps: { chains: Chains; rates: FeeRates },
): void {
  // The configuration is frozen, so the answer is too, and is written once.
  const answer = rawJson(JSON.stringify(capabilitiesOf(deps.chains, deps.rates)));
  addRoute(merchantApi.routes.getCapabilities, async () => answer);
}

/** Every configured token with the tokens that pay towards it. */
function capabilitiesOf(chains: Chains, rates: FeeRates): Capabilities {
  return {
    supportedTokens: chains.tokens.map(({ tokenId, symbol, chainId, decimals }) => ({
      tokenId,
      symbol,
      chainId: String(chainId),
      decimals,
    })),
    paymentCapabilities: Object.fromEntries(
      chains.tokens.map(({ tokenId }) => [
        tokenId,
        routesTo(chains, rates, tokenId).map((route) => capabilityOf(chains, route)),
      ]),
    ),
  };
}

function capabilityOf(chains: Chains, route: Route): Capabilities['paymentCapabilities'][string][number] {
  const paid = chainOf(chains, route.paymentToken.chainId);
  const settled = chainOf(chains, route.settlementToken.chainId);
  return {
    tokenId: route.paymentToken.tokenId,
    crosschain: route.kind === 'cross_chain',
    feeRatePPM: route.feePpm,
    minPaymentValue: microUsdToNumber(route.minPaymentValue),
    maxPaymentValue: microUsdToNumber(route.maxPaymentValue),
    // The payment becomes final, then the settlement.
    etaSeconds: secondsToFinal(paid) + secondsToFinal(settled),
    finality: paid.finality.tag,
    methods: ['transaction'],
  };
}

function chainOf(chains: Chains, chainId: number): Chain {
  const chain = chains.byId(chainId);
  if (chain === undefined) throw new Error(`a token stands on chain ${chainId}, which is not configured`);
  return chain;
}

/** Usual seconds until a new block has each tag, by chain id, as the chains document them. */
const knownSecondsToFinal: Record<number, Record<Chain['finality']['tag'], number>> = {
  1: { finalized: 900, safe: 480, latest: 12 },
  10: { finalized: 1500, safe: 120, latest: 2 },
  56: { finalized: 3, safe: 3, latest: 1 },
  137: { finalized: 6, safe: 6, latest: 2 },
  8453: { finalized: 1500, safe: 120, latest: 2 },
  42161: { finalized: 1500, safe: 600, latest: 1 },
};

/** Chains that are not in the table count as making a block a second. */
function secondsToFinal(chain: Chain): number {
  const known = knownSecondsToFinal[chain.chainId]?.[chain.finality.tag] ?? 0;
  return Math.max(known, chain.finality.depth) + 2;
}
