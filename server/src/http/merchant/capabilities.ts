import type { Capabilities } from '@florin/protocol/capability.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { microUsdToNumber } from '@florin/protocol/money.ts';
import { orderKinds } from '@florin/protocol/order.ts';
import { type Chain, type Chains, finalityText } from '#chains/chain.ts';
import { expectedSecondsToFinal } from '#chains/condition.ts';
import { type FeeRates, type Route, routesTo } from '#sessions/quote.ts';
import { envelope } from '../envelope.ts';
import { type AddRoute, FinishedReply } from '../route-handler.ts';

/** GET /capabilities/all: what can be paid with what, and on which terms. Public. */
export function addCapabilityRoutes<Caller>(
  addRoute: AddRoute<Caller>,
  deps: { chains: Chains; rates: FeeRates },
): void {
  const { chains, rates } = deps;
  // The configuration is frozen, so the answer is written anew only when something else is known of the chains.
  // As bytes, which are neither measured nor encoded again for each answer of 5 kB: 5 of 36 µs.
  let written: { version: number; answer: FinishedReply } | undefined;
  addRoute(merchantApi.routes.getCapabilities, async () => {
    const version = chains.conditions?.version() ?? 0;
    if (written?.version !== version) {
      const text = envelope.success(capabilitiesOf(chains, rates));
      written = { version, answer: new FinishedReply(Buffer.from(text)) };
    }
    return written.answer;
  });
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
    etaSeconds: etaOf(route, secondsToFinal(chains, paid), secondsToFinal(chains, settled)),
    finality: finalityText(paid.finality),
    methods: ['transaction'],
    status: route.condition.status,
    statusReason: route.condition.reason,
  };
}

/** The payment becomes final, then the settlement does, and what a vault pays is paid only after that. */
function etaOf(route: Route, paidSeconds: number, settledSeconds: number): number {
  const isPayout = route.orderType === orderKinds.vaultPayout || route.orderType === orderKinds.cctp;
  return isPayout ? 2 * paidSeconds + settledSeconds : paidSeconds + settledSeconds;
}

function secondsToFinal(chains: Chains, chain: Chain): number {
  return chains.conditions?.of(chain.chainId).secondsToFinal ?? expectedSecondsToFinal(chain);
}

function chainOf(chains: Chains, chainId: number): Chain {
  const chain = chains.byId(chainId);
  if (chain === undefined) throw new Error(`a token stands on chain ${chainId}, which is not configured`);
  return chain;
}
