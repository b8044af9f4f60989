import { RpcError, RpcUnavailable } from '@florin/evm';
import type { Capabilities } from '@florin/protocol/capability.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { microUsdToNumber } from '@florin/protocol/money.ts';
import { orderKinds, type SettlementMode } from '@florin/protocol/order.ts';
import { paymentMethodsOf } from '#authorizations/alternatives.ts';
import { type Chain, type Chains, finalityText } from '#chains/chain.ts';
import { expectedSecondsToFinal } from '#chains/condition.ts';
import { type PaymentRoute, priceBounds, routesTo } from '#orders/quote.ts';
import { envelope } from '../envelope.ts';
import { type AddRoute, FinishedReply } from '../route-handler.ts';
import type { MerchantDoorContext } from './context.ts';

/** How long an answer is kept that a chain has not completed. */
const incompleteForMs = 5_000;

interface Rendered {
  readonly answer: FinishedReply;
  /** False while a chain has not told how its tokens can be paid. */
  readonly isWhole: boolean;
}

/** GET /capabilities/all: which tokens pay for which, and on which terms. Public. */
export function addCapabilityRoutes<Caller>(addRoute: AddRoute<Caller>, deps: MerchantDoorContext): void {
  const { chains, clock } = deps;
  // The configuration is frozen, so the answer is rendered again only when a chain's state changes. It is kept as
  // bytes: measuring and encoding 5 kB per answer took 5 of 36 µs. Requests share one rendering, also while it waits
  // for a node. Otherwise each of them would load a node that does not answer.
  let current: { version: number; rendered: Promise<Rendered>; untilMs: number } | undefined;
  addRoute(merchantApi.routes.getCapabilities, async () => {
    const version = chains.conditions?.version() ?? 0;
    if (current?.version !== version || clock.monotonicMs() >= current.untilMs) {
      const next = { version, rendered: render(deps), untilMs: Number.POSITIVE_INFINITY };
      next.rendered.then(
        ({ isWhole }) => {
          if (!isWhole) next.untilMs = clock.monotonicMs() + incompleteForMs;
        },
        // The requests report the error; the next one renders again.
        () => {
          next.untilMs = Number.NEGATIVE_INFINITY;
        },
      );
      current = next;
    }
    return (await current.rendered).answer;
  });
}

async function render(deps: MerchantDoorContext): Promise<Rendered> {
  const { methods, isWhole } = await readMethods(deps);
  return { answer: new FinishedReply(Buffer.from(envelope.success(capabilitiesOf(deps, methods)))), isWhole };
}

/** The ways to pay with each token, by its id; incomplete while a chain does not answer. */
async function readMethods({
  chains,
  signingOf,
}: MerchantDoorContext): Promise<{ methods: ReadonlyMap<string, string[]>; isWhole: boolean }> {
  let isWhole = true;
  const entries = chains.tokens.map(async (token): Promise<[string, string[]]> => {
    // A service that begins no payments there need not wait for a chain that does not answer.
    const isAsked = signingOf !== undefined && chains.conditions?.of(token.chainId).status !== 'unavailable';
    try {
      return [token.tokenId, paymentMethodsOf(isAsked ? await signingOf(token) : undefined)];
    } catch (error) {
      if (!(error instanceof RpcUnavailable) && !(error instanceof RpcError)) throw error;
      isWhole = false;
      return [token.tokenId, paymentMethodsOf(undefined)];
    }
  });
  return { methods: new Map(await Promise.all(entries)), isWhole };
}

/**
 * The merchant pays the fee. The least price leaves the merchant something, so it is also accepted with fee model 2.
 */
const boundsFeeModel = 1;

/** Every configured token with the tokens that can pay it. */
function capabilitiesOf(
  { chains, rates, settlementMode = 'escrow' }: MerchantDoorContext,
  methods: ReadonlyMap<string, string[]>,
): Capabilities {
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
        routesTo(chains, rates, tokenId).flatMap((route) => {
          const bounds = priceBounds(route, boundsFeeModel);
          if (bounds === undefined) return [];
          return {
            ...termsOf(chains, settlementMode, route),
            minPaymentValue: microUsdToNumber(bounds.least),
            maxPaymentValue: microUsdToNumber(bounds.most),
            methods: methods.get(route.paymentToken.tokenId) ?? [],
            status: route.condition.status,
            statusReason: route.condition.reason,
          };
        }),
      ]),
    ),
  };
}

function termsOf(chains: Chains, settlementMode: SettlementMode, route: PaymentRoute) {
  const paid = chainOf(chains, route.paymentToken.chainId);
  const settled = chainOf(chains, route.settlementToken.chainId);
  return {
    tokenId: route.paymentToken.tokenId,
    crosschain: route.kind === 'cross_chain',
    feeRatePPM: route.feePpm,
    etaSeconds:
      settlementMode === 'direct' && route.kind === 'same_token'
        ? // The payment is the settlement.
          secondsToFinal(chains, paid)
        : etaOf(route, secondsToFinal(chains, paid), secondsToFinal(chains, settled)),
    finality: finalityText(paid.finality),
  };
}

/** The payment becomes final, then the settlement. A vault pays out only after both. */
function etaOf(route: PaymentRoute, paidSeconds: number, settledSeconds: number): number {
  const isPayout = route.orderType === orderKinds.vaultPayout || route.orderType === orderKinds.cctp;
  return isPayout ? 2 * paidSeconds + settledSeconds : paidSeconds + settledSeconds;
}

function secondsToFinal(chains: Chains, chain: Chain): number {
  return chains.conditions?.of(chain.chainId).secondsToFinal ?? expectedSecondsToFinal(chain);
}

function chainOf(chains: Chains, chainId: number): Chain {
  const chain = chains.byId(chainId);
  if (chain === undefined) throw new Error(`a token is on chain ${chainId}, which is not configured`);
  return chain;
}
