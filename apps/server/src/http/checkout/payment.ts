import { createHash, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '@florin/pg';
import type { BegunSession, checkoutApi, TokenBalance } from '@florin/protocol/checkout-api.ts';
import type { PreparedOrder } from '@florin/protocol/checkout-order.ts';
import { fieldRefusal, isChainUnavailable, Refusal } from '@florin/protocol/error.ts';
import { formatUsd, type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { BodyOf } from '@florin/protocol/route.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeFunctionData, erc20Abi, getAddress, isAddress } from 'viem';
import { preparedView } from '#authorizations/execution-view.ts';
import { readPayerState } from '#authorizations/preparation.ts';
import type { Chain } from '#chains/chain.ts';
import { networkFactsOf } from '#chains/networks.ts';
import { findLink } from '#links/link-lookup.ts';
import { notActive } from '#links/link-terms.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { assertNotOwn } from '#merchants/own-address.ts';
import { prepareDeposit } from '#orders/deposit-terms.ts';
import { quoteSession } from '#orders/order.ts';
import { endOfUnsigned } from '#orders/order-limit.ts';
import { assertPayable, prepareOrder } from '#sessions/order-preparation.ts';
import { createLinkSession, findSession, lockSession } from '#sessions/session.ts';
import { paymentUrlOf } from '#sessions/session-json.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { CheckoutContext } from './context.ts';
import { checkoutState, linkBounds, linkOptions, sessionOptions } from './state.ts';

type Routes = (typeof checkoutApi)['routes'];

/** The link in any status except deleted. Refuses with 100101 and 100102. */
export async function linkOf(db: Queryable, linkId: string, now: Date): Promise<StoredLink> {
  const link = await findLink(db, linkId, now);
  if (link === undefined) throw new Refusal('link_not_found', linkId);
  if (link.status === 'deleted') throw new Refusal('link_archived', linkId);
  return link;
}

/** The session. Refuses with 100201. */
export async function sessionOf(deps: CheckoutContext, sessionId: string): Promise<StoredSession> {
  const session = await findSession(deps.db, sessionId);
  if (session === undefined) throw new Refusal('session_not_found', sessionId);
  return session;
}

/** Begins a session of type `lnk`. The link must still have the version that the payer saw. */
export async function beginSession(
  deps: CheckoutContext,
  body: BodyOf<Routes['beginSession']>,
): Promise<BegunSession> {
  const session = await deps.db.transaction(async (transaction) => {
    const link = await linkOf(transaction, body.linkId, deps.clock.now());
    if (link.status !== 'active') throw notActive(link);
    if (link.versionCode !== body.linkVersion)
      throw new Refusal('link_version_invalid', {
        param: 'linkVersion',
        detail: 'the link has changed meanwhile',
      });
    const paymentValue = priceOf(link, body.amount);
    if (linkOptions(deps, link, paymentValue).length === 0) throw outOfLinkBounds(deps, link);
    return createLinkSession(transaction, deps, { link, paymentValue });
  });
  return {
    state: await checkoutState(deps, session),
    clientCode: session.clientCode,
    paymentUrl: paymentUrlOf(session, deps.origin),
    options: await sessionOptions(deps, session),
  };
}

function outOfLinkBounds(deps: CheckoutContext, link: StoredLink): Refusal {
  const { least, most } = linkBounds(deps, link);
  const detail =
    least === undefined || most === undefined
      ? 'no token takes any amount'
      : `it must be from ${usdOf(least)} to ${usdOf(most)} USD`;
  return new Refusal('amount_out_of_range', { param: 'amount', detail });
}

const usdOf = (amount: string) => formatUsd(microUsd(BigInt(amount)));

function priceOf(link: StoredLink, amount: string | undefined): MicroUsd {
  if (link.linkType === 'fixed') {
    if (amount !== undefined) throw fieldRefusal('amount', 'is for links whose payer chooses the amount');
    return link.amount;
  }
  if (amount === undefined) throw fieldRefusal('amount', 'is required: the payer chooses it');
  return microUsd(BigInt(amount));
}

/** Refuses (100202) a code other than the session's. Compares hashes, so that timing reveals nothing. */
export function assertClientCode(session: StoredSession, clientCode: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(session.clientCode), digest(clientCode)))
    throw new Refusal('client_code_invalid');
}

/** Where a payer's request comes from. */
export interface PayerCaller {
  /** The secret of the page, if sent. */
  readonly clientCode: string | undefined;
  readonly network: string;
  /** The language of the page, as a BCP 47 tag. */
  readonly language: string;
}

/**
 * Signs an order for a payer. A caller without a code may pay as well (a hand-off from an agent has none); a wrong code
 * is refused. This grants little: an order can move only its own payer's money, by the payer's own wallet. The e-mail
 * address of a caller with the code replaces that of one without it, and none replaces it as well.
 */
export async function prepareForPayer(
  deps: CheckoutContext,
  body: BodyOf<Routes['prepareOrder']>,
  { clientCode, network, language }: PayerCaller,
): Promise<PreparedOrder> {
  const { sessionId, payerEmail } = body;
  const found = await sessionOf(deps, sessionId);
  if (clientCode !== undefined) assertClientCode(found, clientCode);
  const payer = payerOf(body.payer);
  assertPayable(found, deps.clock.now());
  assertPayer(found, payer, payerEmail);
  const { chain, token } = placeOf(deps, found, body.tokenId);
  quoteSession(deps.chains, deps.rates, found, token);
  await assertNotOwn(deps.db, deps.chains, payer);
  const payerState = await readPayerState(deps, { chain, token }, payer);
  const { session, order, deposit } = await deps.db.transaction(async (transaction) => {
    const session = await lockSession(transaction, sessionId);
    if (session === undefined) throw new Refusal('session_not_found', sessionId);
    assertPayable(session, deps.clock.now());
    const proof = clientCode === undefined ? undefined : ('secret' as const);
    const asked = { session, payer, proof, token, network };
    const endsAt = await endOfUnsigned(transaction, deps, asked);
    const request = { ...asked, payerEmail, endsAt, language };
    const order = await prepareOrder(transaction, deps, request);
    const deposit = await prepareDeposit(transaction, deps, request, order);
    return { session: { ...session, signedOnce: true }, order, deposit };
  });
  const prepared = preparedView(deps, { session, order, deposit, chain, token, payerState, isReplay: false });
  const guide = prepared.aiView.paymentExecutionGuide;
  return {
    orderId: order.orderId,
    deadline: guide.order.deadline,
    gateway: prepared.executorContract,
    amountInToken: order.order.total.toString(),
    prerequisites: guide.prerequisites,
    payment: guide.executionRequest.txRequest,
    alternatives: guide.alternatives,
    ...networkOf(chain),
  };
}

function networkOf(chain: Chain): Pick<PreparedOrder, 'network'> {
  const network = networkFactsOf(chain);
  return network === undefined ? {} : { network };
}

function payerOf(text: string): Hex {
  if (!isAddress(text, { strict: true })) throw fieldRefusal('payer', 'has a wrong checksum');
  return getAddress(text);
}

function assertPayer(session: StoredSession, payer: Hex, payerEmail: string): void {
  const { intendedPayer } = session;
  if (intendedPayer !== '' && intendedPayer.toLowerCase() !== payer.toLowerCase())
    throw new Refusal('payer_mismatch', { param: 'payer', detail: `the session is for ${intendedPayer}` });
  if (session.payerEmailRequired && payerEmail === '')
    throw new Refusal('payer_email_required', { param: 'payerEmail' });
}

function placeOf(
  deps: CheckoutContext,
  session: StoredSession,
  tokenId: string,
): { chain: Chain; token: Token } {
  const token = deps.chains.token(tokenId);
  const chain = token === undefined ? undefined : deps.chains.byId(token.chainId);
  const isOther = session.intendedToken !== '' && session.intendedToken !== tokenId;
  if (token === undefined || chain === undefined || isOther)
    throw new Refusal('payment_token_unsupported', { param: 'tokenId', detail: tokenId });
  return { chain, token };
}

/** Far above what any token needs for the read. */
const balanceGas = 500_000n;

/**
 * A payer's balances of the configured tokens. Omits unknown tokens; a token whose chain does not answer has no amount.
 */
export async function readBalances(
  deps: CheckoutContext,
  body: BodyOf<Routes['readBalances']>,
): Promise<TokenBalance[]> {
  const payer = payerOf(body.payer);
  const tokens = body.tokenIds.flatMap((tokenId) => deps.chains.token(tokenId) ?? []);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [payer] });
  return Promise.all(
    tokens.map(async ({ tokenId, chainId, address }) => {
      try {
        const answer = await deps.payerChain.callAt(chainId, { to: address, data, gas: balanceGas });
        return answer !== undefined && /^0x[0-9a-f]{64}$/i.test(answer)
          ? { tokenId, amount: BigInt(answer).toString() }
          : { tokenId };
      } catch (error) {
        // A balance only helps to choose, so the page works without it.
        if (isChainUnavailable(error)) return { tokenId };
        throw error;
      }
    }),
  );
}
