import { AgentError } from './error.ts';
import type { Hex } from './json.ts';
import { generatedTokens } from './known-tokens.gen.ts';

/** A token that an account may pay with, valued at one dollar. Decimals that the service states otherwise are refused. */
export interface PolicyToken {
  readonly chainId: number;
  readonly address: string;
  readonly decimals: number;
}

/** The limits of an agent's spending. An absent limit allows everything, except for tokens. */
export interface Policy {
  /** Allowed hosts of the page and of the AI protocol, with a port where there is one. */
  readonly hosts?: readonly string[];
  readonly merchants?: readonly string[];
  readonly chains?: readonly number[];
  /** The first that is offered and covered is used. `knownTokens` when absent. */
  readonly tokens?: readonly PolicyToken[];
}

/** Dollar tokens as their issuers publish them. */
export const knownTokens: readonly PolicyToken[] = generatedTokens;

/** A token, with the amount that one link or session asks for. */
export interface Offer {
  readonly chainId: number;
  /** Lower case. */
  readonly token: Hex;
  /** The payer's total, in smallest units; 0 where the payer chooses. */
  readonly amount: bigint;
  /** Whether the service refuses new payments with it now, because a chain does not work. */
  readonly isUnavailable: boolean;
  /** From the policy. */
  readonly decimals: number;
}

/** A token as a view offers it, with the decimals that the service states. */
export type StatedOffer = Omit<Offer, 'decimals'> & { readonly statedDecimals: number };

const memberNames = ['hosts', 'merchants', 'chains', 'tokens'] as const satisfies readonly (keyof Policy)[];

const tokenMemberNames = ['chainId', 'address', 'decimals'] as const satisfies readonly (keyof PolicyToken)[];

/**
 * Refuses a member that nothing reads, because a misspelt limit would allow everything, and a value of another type, which
 * would match nothing.
 */
export function checkPolicy(policy: Policy): void {
  refuseUnknown(policy, memberNames, 'policy.');
  const { hosts, merchants, chains, tokens }: { readonly [Name in keyof Policy]: unknown } = policy;
  checkList('policy.hosts', hosts, 'a text', isText);
  checkList('policy.merchants', merchants, 'a text', isText);
  checkList('policy.chains', chains, 'a whole number', isCount);
  checkList('policy.tokens', tokens, 'an object', isObject);
  for (const [index, token] of (policy.tokens ?? []).entries()) checkToken(token, `policy.tokens[${index}].`);
}

function checkToken(token: PolicyToken, path: string): void {
  refuseUnknown(token, tokenMemberNames, path);
  const { chainId, address, decimals }: { readonly [Name in keyof PolicyToken]: unknown } = token;
  check(isCount(chainId), `${path}chainId must be a whole number, such as 8453`);
  check(
    isText(address) && /^0x[0-9a-f]{40}$/i.test(address),
    `${path}address must be 0x and 40 hexadecimal digits`,
  );
  check(isCount(decimals), `${path}decimals must be a whole number, such as 6`);
}

function checkList(path: string, list: unknown, what: string, isEntry: (entry: unknown) => boolean): void {
  if (list === undefined) return;
  check(Array.isArray(list), `${path} must be a list`);
  for (const [index, entry] of Array.from(list as ArrayLike<unknown>).entries())
    check(isEntry(entry), `${path}[${index}] must be ${what}`);
}

function check(isRight: boolean, message: string): void {
  if (!isRight) throw new AgentError('argument_invalid', message);
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isObject = (value: unknown) => typeof value === 'object' && value !== null;
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;

/** Refuses a member that is not known. `path` stands before its name. */
export function refuseUnknown(given: object, known: readonly string[], path = ''): void {
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !known.includes(name))
      throw new AgentError('argument_invalid', `${path}${name} is not known: give ${known.join(', ')}`);
}

/**
 * Refuses decimals of the policy that are not those which the service states: with too many of them a payment would seem
 * smaller than it is.
 */
export function assertDecimals(offer: Omit<Offer, 'amount' | 'isUnavailable'>, stated: number): void {
  const { chainId, token, decimals } = offer;
  if (decimals !== stated)
    throw new AgentError(
      'policy_refused',
      `the policy gives ${token} on chain ${chainId} ${decimals} decimals, and the service says ${stated}`,
    );
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
 * The offers that the policy permits, in the policy's order; `chosenAmount` (Micro-USD) applies where the payer
 * chooses. Refuses when there is none, when the cheapest exceeds `maxAmount` (Micro-USD), and decimals that the service states
 * otherwise.
 */
export function permittedOffers(
  policy: Policy,
  offers: readonly (Omit<Offer, 'decimals'> & Partial<StatedOffer>)[],
  maxAmount: bigint,
  chosenAmount?: bigint,
): [Offer, ...Offer[]] {
  const tokens = policy.tokens ?? knownTokens;
  const permitted = tokens.flatMap(({ chainId, address, decimals }) => {
    if (policy.chains !== undefined && !policy.chains.includes(chainId)) return [];
    return offers
      .filter((offer) => offer.chainId === chainId && offer.token === address.toLowerCase())
      .map(({ statedDecimals, ...offer }) => {
        if (statedDecimals !== undefined) assertDecimals({ ...offer, decimals }, statedDecimals);
        const amount = chosenAmount === undefined ? offer.amount : unitsOf(chosenAmount, decimals);
        return { ...offer, decimals, amount };
      });
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

/** The value of a token amount at one dollar per token, in Micro-USD, rounded up. */
export function microUsdOf({ amount, decimals }: Pick<Offer, 'amount' | 'decimals'>): bigint {
  const unit = 10n ** BigInt(decimals);
  return (amount * 1_000_000n + unit - 1n) / unit;
}

/** Converts Micro-USD to smallest units of a token. Refuses amounts that the token cannot express. */
function unitsOf(microUsd: bigint, decimals: number): bigint {
  const scaled = microUsd * 10n ** BigInt(decimals);
  if (scaled % 1_000_000n !== 0n)
    throw new AgentError(
      'policy_refused',
      `a token of ${decimals} decimals cannot pay ${microUsd} Micro-USD`,
    );
  return scaled / 1_000_000n;
}
