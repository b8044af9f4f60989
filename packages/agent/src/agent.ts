import { type EthersAccount, type PayerAccount, payerAccountOf } from './account.ts';
import { type ChainClient, openChain } from './chain.ts';
import { createSession, nonceOf, type OpenedSession, type Purchase, storedSession } from './creation.ts';
import { discover, type Found, type Target } from './discovery.ts';
import { AgentError } from './error.ts';
import type { Hex } from './json.ts';
import type { Outside } from './outside.ts';
import { followSession, type PaymentResult, type Step, type WaitFor } from './payment.ts';
import {
  assertMerchant,
  checkPolicy,
  type Offer,
  type Policy,
  permittedOffers,
  refuseUnknown,
} from './policy.ts';
import { openRecord, type PaymentStore } from './record.ts';
import { openService } from './service.ts';
import { parseLinkView } from './view.ts';

export type {
  AccountTransaction,
  Eip1193Provider,
  EthersAccount,
  PayerAccount,
  TypedData,
} from './account.ts';
export { eip1193Account } from './account.ts';
export type { Target } from './discovery.ts';
export type { AgentErrorReason } from './error.ts';
export { AgentError } from './error.ts';
export type { Hex } from './json.ts';
export type { PaymentResult, Step, WaitFor } from './payment.ts';
export type { Policy, PolicyToken } from './policy.ts';
export { knownTokens } from './policy.ts';
export type { PaymentStore } from './record.ts';

export interface PayLinkOptions {
  /** An account of viem, a wallet of ethers, or `eip1193Account(provider, address)`. */
  readonly account: PayerAccount | EthersAccount;
  /** The most that this payment may cost in total, in Micro-USD (1,000,000 is one dollar). */
  readonly maxAmount: bigint;
  /** The amount to pay where the payer of a link chooses it, in Micro-USD. */
  readonly amount?: bigint;
  /**
   * Distinguishes purchases: calls with the same key, link and account are one payment. Without it, an account pays a
   * link once.
   */
  readonly idempotencyKey?: string;
  readonly policy?: Policy;
  /** Nodes by chain id. Needed for payments by transaction; if given, balances are checked first. */
  readonly rpcUrls?: Readonly<Record<number, string>>;
  /** Stores what was signed, so that a call after a crash finds its payment. */
  readonly store?: PaymentStore;
  readonly payerEmail?: string;
  /** By signature where that is offered, else by transaction; or by transaction only. */
  readonly method?: 'signature' | 'transaction';
  /** `seen`: in a block. `paid` (as when absent): final. `settled`: with the merchant. */
  readonly waitFor?: WaitFor;
  /** When waiting ends, in milliseconds; 15 minutes when absent. */
  readonly timeoutMs?: number;
  /** The longest pause between two reads of the session, in milliseconds. */
  readonly pollMs?: number;
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
  /** Called before and after every request that matters to the payment. */
  readonly onStep?: (step: Step) => void;
}

const optionNames = [
  ...(['account', 'maxAmount', 'amount', 'idempotencyKey', 'policy', 'rpcUrls', 'store'] as const),
  ...(['payerEmail', 'method', 'waitFor', 'timeoutMs', 'pollMs', 'signal', 'fetch', 'onStep'] as const),
] satisfies readonly (keyof PayLinkOptions)[];
const defaultTimeoutMs = 15 * 60 * 1_000;
const defaultPollMs = 30_000;

/**
 * Pays a payment link, or a session, once: discovers it, holds it against the policy, signs, sends, and waits until the
 * payment is final. Calling it again with the same `idempotencyKey`, after a crash or a time-out, takes up the same
 * payment where it stands. Throws an AgentError whose `remedy` says what to do.
 *
 * @example
 * const account = privateKeyToAccount(key); // of viem
 * const { txHash } = await payLink('https://pay.example.com/link/lnk_…', { account, maxAmount: 5_000_000n });
 */
export async function payLink(target: Target, options: PayLinkOptions): Promise<PaymentResult> {
  // A misspelt limit, or a misspelt key, would have no effect.
  refuseUnknown(options, optionNames);
  checkPolicy(options.policy ?? {});
  if (typeof options.maxAmount !== 'bigint' || options.maxAmount <= 0n)
    throw new AgentError('amount_refused', 'maxAmount must be a positive bigint of Micro-USD');
  const account = await payerAccountOf(options.account);
  const { fetch: ask = globalThis.fetch.bind(globalThis), policy = {} } = options;
  const outside: Outside = {
    fetch: ask,
    signal: options.signal ?? new AbortController().signal,
    endMs: performance.now() + (options.timeoutMs ?? defaultTimeoutMs),
    longestPauseMs: options.pollMs ?? defaultPollMs,
  };
  const step = options.onStep ?? (() => {});
  const found = await discover(outside, policy, target);
  step('found');
  const service = openService(outside, found.base);
  const nonce = await nonceOf({
    linkId: found.id,
    payer: account.address,
    key: options.idempotencyKey ?? '',
  });
  const record = await openRecord(options.store, `florin-payment-${nonce.slice(2)}`);
  const chainOf = chainOpener(outside, options.rpcUrls ?? {});
  const run = { ...options, account, policy, outside, service, record, chainOf, step };
  const purchase = { ...run, nonce };
  const opened = found.kind === 'session' ? undefined : await openLink(purchase, found);
  const offer = opened === undefined ? undefined : offerOf(policy, opened, options.maxAmount);
  const sessionId = opened?.sessionId ?? found.id;
  return followSession(run, { sessionId, offer, isRepeat: opened?.isRepeat ?? false });
}

type ChainOf = (chainId: number) => Promise<ChainClient | undefined>;

function chainOpener(outside: Outside, urls: Readonly<Record<number, string>>): ChainOf {
  const open = new Map<number, Promise<ChainClient>>();
  return async (chainId) => {
    const url = urls[chainId];
    if (url === undefined) return undefined;
    const chain = open.get(chainId) ?? openChain(outside, chainId, url);
    open.set(chainId, chain);
    return chain;
  };
}

interface LinkPurchase extends Purchase, Pick<PayLinkOptions, 'maxAmount' | 'amount' | 'payerEmail'> {
  readonly policy: Policy;
  readonly chainOf: ChainOf;
  readonly step: (step: Step) => void;
}

async function openLink(purchase: LinkPurchase, { id }: Found): Promise<OpenedSession> {
  const { service, policy, account, step } = purchase;
  const stored = await storedSession(purchase);
  if (stored !== undefined) return stored;
  const link = parseLinkView(await service.get(`/payment/link/${id}`));
  if (link.linkId !== id) throw new AgentError('answer_refused', 'the service returned another link');
  assertMerchant(policy, link.merchantId);
  if (link.signing === undefined) throw new AgentError('link_unavailable', 'the link accepts no payment now');
  if (link.isEmailRequired && (purchase.payerEmail ?? '') === '')
    throw new AgentError('email_required', 'the merchant asks for the payer’s e-mail address');
  if (link.isOpenPrice !== (purchase.amount !== undefined))
    throw new AgentError(
      'policy_refused',
      link.isOpenPrice
        ? 'the payer chooses what to pay: give amount'
        : 'the link has a price: give no amount',
    );
  const offers = permittedOffers(policy, link.offers, purchase.maxAmount, purchase.amount);
  const ordered = await coveredFirst(purchase.chainOf, offers, account.address);
  step('creating');
  const opened = await createSession(purchase, link, link.signing, ordered);
  step('created');
  return opened;
}

/**
 * The first offer that is available and that the account can cover comes first; where no node is known, it is taken as
 * covered.
 */
async function coveredFirst(
  chainOf: ChainOf,
  offers: readonly [Offer, ...Offer[]],
  holder: Hex,
): Promise<[Offer, ...Offer[]]> {
  for (const offer of offers) {
    if (offer.isUnavailable) continue;
    const chain = await chainOf(offer.chainId);
    if (chain !== undefined && (await chain.balanceOf(offer.token, holder)) < offer.amount) continue;
    return [offer, ...offers.filter((other) => other !== offer)];
  }
  return [...offers];
}

/** The offer that pays an opened session, checked against the present policy. */
function offerOf(policy: Policy, opened: OpenedSession, maxAmount: bigint): Offer {
  const { chainId, amount } = opened;
  const token: Hex = `0x${opened.token.slice(2).toLowerCase()}`;
  return permittedOffers(policy, [{ chainId, token, amount, isUnavailable: false }], maxAmount)[0];
}
