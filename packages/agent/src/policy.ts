import { AgentError } from './error.ts';
import type { Hex } from './json.ts';
import { generatedTokens } from './known-tokens.gen.ts';

/** A token that an account may pay with, at one dollar each. The decimals are the caller's word, never the service's. */
export interface PolicyToken {
  readonly chainId: number;
  readonly address: string;
  readonly decimals: number;
}

/** What an agent may spend on. What is absent allows everything, but for tokens. */
export interface Policy {
  /** Hosts, with their port where they have one, of the page and of the AI protocol. */
  readonly hosts?: readonly string[];
  readonly merchants?: readonly string[];
  readonly chains?: readonly number[];
  /** The first that is offered and covered is used. `knownTokens` when absent. */
  readonly tokens?: readonly PolicyToken[];
}

/** Dollar tokens as their issuers publish them. */
export const knownTokens: readonly PolicyToken[] = generatedTokens;

/** A token with what one link or session asks for in it. */
export interface Offer {
  readonly chainId: number;
  /** Lower case. */
  readonly token: Hex;
  /** What the payer pays in all, in smallest units; 0 where the payer chooses. */
  readonly amount: bigint;
  /** By the policy. */
  readonly decimals: number;
}

/** Refuses a host that the policy does not name. */
export function assertHost(policy: Policy, url: URL): void {
  if (policy.hosts !== undefined && !policy.hosts.includes(url.host))
    throw new AgentError('policy_refused', `the policy does not name the host ${url.host}`);
}

/** Refuses a merchant that the policy does not name. */
export function assertMerchant(policy: Policy, merchantId: string): void {
  if (policy.merchants !== undefined && !policy.merchants.includes(merchantId))
    throw new AgentError('policy_refused', `the policy does not name the merchant ${merchantId}`);
}

/**
 * The offers that the policy permits, in the policy's order; of `chosenAmount` (Micro-USD) where the payer chooses.
 * Refuses when there is none, and when the cheapest is beyond `maxAmount` (Micro-USD).
 */
export function permittedOffers(
  policy: Policy,
  offers: readonly Omit<Offer, 'decimals'>[],
  maxAmount: bigint,
  chosenAmount?: bigint,
): [Offer, ...Offer[]] {
  const tokens = policy.tokens ?? knownTokens;
  const permitted = tokens.flatMap(({ chainId, address, decimals }) => {
    if (policy.chains !== undefined && !policy.chains.includes(chainId)) return [];
    return offers
      .filter((offer) => offer.chainId === chainId && offer.token === address.toLowerCase())
      .map((offer) => ({
        ...offer,
        decimals,
        amount: chosenAmount === undefined ? offer.amount : unitsOf(chosenAmount, decimals),
      }));
  });
  if (permitted.length === 0) {
    const offered = offers.map(({ chainId, token }) => `${token} on chain ${chainId}`).join(', ');
    throw new AgentError('policy_refused', `the policy permits none of the offered tokens: ${offered}`);
  }
  const [first, ...rest] = permitted.filter((offer) => microUsdOf(offer) <= maxAmount);
  if (first === undefined) {
    const least = permitted.map(microUsdOf).sort((left, right) => (left < right ? -1 : 1))[0];
    throw new AgentError('amount_refused', `it costs ${least} Micro-USD; the most allowed is ${maxAmount}`);
  }
  return [first, ...rest];
}

/** What an amount of a token is worth at one dollar each, in Micro-USD, rounded up. */
export function microUsdOf({ amount, decimals }: Pick<Offer, 'amount' | 'decimals'>): bigint {
  const unit = 10n ** BigInt(decimals);
  return (amount * 1_000_000n + unit - 1n) / unit;
}

/** So many Micro-USD in smallest units of a token. Refuses what the token cannot express. */
function unitsOf(microUsd: bigint, decimals: number): bigint {
  const scaled = microUsd * 10n ** BigInt(decimals);
  if (scaled % 1_000_000n !== 0n)
    throw new AgentError(
      'policy_refused',
      `a token of ${decimals} decimals cannot pay ${microUsd} Micro-USD`,
    );
  return scaled / 1_000_000n;
}
