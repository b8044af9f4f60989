import type { CreateSessionBody } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { type MicroUsd, tokenAmount, toMicroUsd } from '@florin/protocol/money.ts';
import type { Queryable, Transaction } from '#db/database.ts';
import { findLink } from '#links/link.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { assertRouteOpen, type Quote, quoteOfTotal, type Route, routeFrom } from '#sessions/quote.ts';
import { createLinkSession, findSession, openSessionCount } from '#sessions/session.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import {
  type AuthorizationDeps,
  assertInTime,
  assertPurpose,
  assertSigned,
  beginClaim,
  claim,
  findClaimed,
  parseSignedMessage,
  paymentChainOf,
  type SignedMessage,
} from './authorization.ts';
import type { AgentMessage } from './cryptography.ts';
import { linkView } from './link-view.ts';
import { linkTerms, offeredToken, quoteFor } from './offer.ts';

/** A request to create a session that has passed every check, or was answered before. */
export type CheckedCreation =
  | { readonly kind: 'earlier'; readonly session: StoredSession }
  | {
      readonly kind: 'new';
      readonly signed: SignedMessage;
      readonly link: StoredLink;
      readonly purchase: Purchase;
    };

/** What the payer has signed to pay. */
interface Purchase {
  readonly quote: Quote;
  /** Custom links: the total of the payer's choice. */
  readonly chosenTotal: MicroUsd | undefined;
}

/**
 * Checks a request to create a session, in the order that decides which refusal a caller sees. Reads the database and
 * then, last, the payer's chain; writes nothing. Call outside a transaction.
 */
export async function checkCreation(
  queryable: Queryable,
  deps: AuthorizationDeps,
  body: CreateSessionBody,
): Promise<CheckedCreation> {
  const { message } = body;
  const agentMessage: AgentMessage = { purpose: 'create_payment_session', message };
  const signed = parseSignedMessage(deps, agentMessage, body.signature);
  const claimed = await findClaimed(queryable, deps, signed);
  if (claimed !== undefined)
    return { kind: 'earlier', session: await sessionOf(queryable, claimed.sessionId) };
  assertPurpose(agentMessage);
  const link = await openLink(queryable, message.linkId);
  if (message.merchantId !== link.merchantId)
    throw new Refusal('merchant_mismatch', { param: 'message.merchantId' });
  assertVersion(deps, link, message.linkVersion);
  const purchase = purchaseOf(link, routeOf(deps, link, signed), message.amount);
  assertInTime(deps, signed);
  await assertSigned(deps, signed);
  return { kind: 'new', signed, link, purchase };
}

/** Creates the session of a checked request and claims its nonce, in one transaction; an identical one may have been first. */
export async function createAuthorizedSession(
  transaction: Transaction,
  deps: AuthorizationDeps,
  checked: Extract<CheckedCreation, { kind: 'new' }>,
): Promise<{ session: StoredSession; isReplay: boolean }> {
  const { signed, purchase } = checked;
  const claimed = await beginClaim(transaction, signed);
  if (claimed !== undefined)
    return { session: await sessionOf(transaction, claimed.sessionId), isReplay: true };
  // The merchant may have edited or disabled the link while the payer's chain was asked.
  const link = await openLink(transaction, checked.link.linkId);
  assertVersion(deps, link, checked.link.versionCode);
  const now = deps.clock.now();
  await assertQuota(transaction, deps, signed, now);
  const { quote, chosenTotal } = purchase;
  const session = await createLinkSession(transaction, deps, {
    link,
    payer: signed.payer,
    token: quote.route.paymentToken,
    paymentValue: quote.amounts.paymentValue,
    ...(chosenTotal === undefined ? {} : { chosenTotal }),
  });
  await claim(transaction, signed, { sessionId: session.sessionId, orderId: '', at: now });
  return { session, isReplay: false };
}

async function sessionOf(queryable: Queryable, sessionId: string): Promise<StoredSession> {
  const session = await findSession(queryable, sessionId);
  if (session === undefined) throw new Error(`an authorization names the unknown session ${sessionId}`);
  return session;
}

async function openLink(queryable: Queryable, linkId: string): Promise<StoredLink> {
  const link = await findLink(queryable, linkId);
  if (link === undefined) throw new Refusal('link_not_found', linkId);
  if (link.status === 'deleted') throw new Refusal('link_archived', linkId);
  if (link.status !== 'active') throw new Refusal('link_not_active', linkId);
  return link;
}

function assertVersion(deps: AuthorizationDeps, link: StoredLink, version: string): void {
  if (version === link.versionCode) return;
  throw new Refusal('link_version_invalid', {
    param: 'message.linkVersion',
    detail: `the link is now at ${link.versionCode}`,
    data: { latest: linkView(deps, link) },
  });
}

function routeOf(deps: AuthorizationDeps, link: StoredLink, signed: SignedMessage): Route {
  const chain = paymentChainOf(deps, signed);
  if (chain === undefined) {
    throw new Refusal('payment_token_unsupported', {
      param: 'message.paymentChainId',
      detail: 'unknown chain',
    });
  }
  const token = deps.chains.tokenAt(chain.chainId, signed.paymentToken);
  const ends = { paymentTokenId: token?.tokenId ?? '', settlementTokenId: link.settlementToken };
  const route = routeFrom(deps.chains, deps.rates, ends);
  if (route === undefined) {
    throw new Refusal('payment_token_unsupported', {
      param: 'message.paymentToken',
      detail: signed.paymentToken,
    });
  }
  assertRouteOpen(route);
  return route;
}

/** Holds the signed amount, in smallest units, against the quote: to the unit for fixed links, in range for custom ones. */
function purchaseOf(link: StoredLink, route: Route, amountText: string): Purchase {
  const amount = tokenAmount(BigInt(amountText));
  const param = 'message.amount';
  if (link.linkType === 'custom') {
    const chosenTotal = toMicroUsd(amount, route.paymentToken.decimals);
    if (chosenTotal === undefined) {
      throw new Refusal('amount_mismatch', {
        param,
        detail: 'must be a whole number of Micro-USD',
        data: offeredToken(route, undefined),
      });
    }
    const quote = quoteOfTotal(route, { totalValue: chosenTotal, feeModel: link.feeModel });
    if (quote === undefined) throw new Refusal('amount_out_of_range', { param });
    return { quote, chosenTotal };
  }
  const quote = quoteFor(route, linkTerms(link));
  if (quote === undefined)
    throw new Refusal('amount_out_of_range', `not payable in ${route.paymentToken.tokenId}`);
  if (amount !== quote.amountInToken) {
    throw new Refusal('amount_mismatch', {
      param,
      detail: `must be ${quote.amountInToken}`,
      data: offeredToken(route, quote),
    });
  }
  return { quote, chosenTotal: undefined };
}

/** A minute: sessions end after half an hour, so room comes back steadily. */
const quotaRetrySeconds = 60;

async function assertQuota(
  transaction: Transaction,
  deps: AuthorizationDeps,
  signed: SignedMessage,
  now: Date,
): Promise<void> {
  const { maxOpenSessions } = deps;
  if (maxOpenSessions === undefined) return;
  if ((await openSessionCount(transaction, signed.payer, now)) < maxOpenSessions) return;
  throw new Refusal('rate_limited', {
    detail: `the payer has ${maxOpenSessions} open sessions`,
    retryAfterSeconds: quotaRetrySeconds,
  });
}
