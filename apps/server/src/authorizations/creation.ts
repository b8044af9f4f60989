import type { Database, Queryable } from '@florin/pg';
import type { CreateSessionBody, CreateSessionMessage } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { type MicroUsd, tokenAmount, toMicroUsd } from '@florin/protocol/money.ts';
import { cachedLinkReader, type LinkReader, type VersionedLink } from '#links/link-reader.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { assertServed } from '#orders/order.ts';
import {
  assertRouteOpen,
  outOfBounds,
  priceBounds,
  type Quote,
  quoteOfTotal,
  type Route,
  routeFrom,
  totalBounds,
} from '#orders/quote.ts';
import { draftLinkSession, findSession } from '#sessions/session.ts';
import type { NewSession } from '#sessions/session-insert.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import {
  type AuthorizationDeps,
  assertInTime,
  assertPurpose,
  type ClaimFinder,
  findClaimed,
  groupClaimFinder,
  isSignatureValid,
  parseSignedMessage,
  paymentChainOf,
  type SignedMessage,
} from './authorization.ts';
import { type CreationInserter, groupCreationInserter } from './creation-insert.ts';
import type { AgentMessage } from './cryptography.ts';
import { linkView } from './link-view.ts';
import { linkTerms, offeredToken, openToken, quoteFor } from './offer.ts';

/** The parts of session creation that concurrent requests share. */
export interface CreationDeps extends AuthorizationDeps {
  readonly db: Queryable;
  readonly findClaim: ClaimFinder;
  readonly links: LinkReader;
  readonly insertCreation: CreationInserter;
}

/** Builds the shared parts over a database. Concurrent requests share look-ups, terms and inserts. */
export function creationDepsOf(db: Database, deps: AuthorizationDeps): CreationDeps {
  return {
    ...deps,
    db,
    findClaim: groupClaimFinder(db),
    links: cachedLinkReader(db),
    insertCreation: groupCreationInserter(db, deps),
  };
}

/** A link with the terms that its payer signed. */
interface Purchase {
  readonly versioned: VersionedLink;
  readonly quote: Quote;
  /** Custom links: the total that the payer chose. */
  readonly chosenTotal: MicroUsd | undefined;
}

/**
 * Creates the session that a payer's authorization asks for and claims its nonce, or returns the session that the same
 * request created before. The order of the checks decides which refusal a caller sees. Nothing is written before the
 * last check, the signature. Call outside a transaction.
 */
export async function createAuthorizedSession(
  deps: CreationDeps,
  body: CreateSessionBody,
): Promise<{ session: StoredSession; isReplay: boolean }> {
  const agentMessage: AgentMessage = { purpose: 'create_payment_session', message: body.message };
  const signed = parseSignedMessage(deps, agentMessage, body.signature);
  const earlier = await earlierSession(deps, signed);
  if (earlier !== undefined) return earlier;
  const purchase = await checkTerms(deps, agentMessage.message, signed);
  if (!(await isSignatureValid(deps, signed))) {
    // Cached terms may be stale: read them again before refusing.
    if (deps.links.fresh !== undefined) await termsOf(deps, deps.links.fresh, agentMessage.message, signed);
    throw new Refusal('signature_invalid', { param: 'signature' });
  }
  deps.admitCreation?.(purchase.versioned.link.linkId);
  return insertChecked(deps, { message: agentMessage.message, signed, purchase });
}

async function earlierSession(
  deps: CreationDeps,
  signed: SignedMessage,
): Promise<{ session: StoredSession; isReplay: true } | undefined> {
  const claimed = await findClaimed(deps.findClaim, deps, signed);
  return claimed === undefined
    ? undefined
    : { session: await sessionOf(deps.db, claimed.sessionId), isReplay: true };
}

/** How often the terms are read again when they change before the session is stored. */
const maxRereads = 3;

/**
 * Stores the session of a checked request. A concurrent identical request may win, and the merchant may edit the link.
 */
async function insertChecked(
  deps: CreationDeps,
  checked: { message: CreateSessionMessage; signed: SignedMessage; purchase: Purchase },
): Promise<{ session: StoredSession; isReplay: boolean }> {
  const { message, signed } = checked;
  let { purchase } = checked;
  for (let rereads = 0; ; rereads += 1) {
    const created = draftOf(deps, signed, purchase);
    const { rowVersion } = purchase.versioned;
    const outcome = await deps.insertCreation({ created, signed, linkRowVersion: rowVersion });
    if (outcome === 'stored') return { session: created.session, isReplay: false };
    const earlier = await earlierSession(deps, signed);
    if (earlier !== undefined) return earlier;
    if (outcome === 'over_quota') throw openSessionsRefusal(deps);
    if (rereads === maxRereads) throw new Refusal('create_failed', 'the link is being changed');
    purchase = await termsOf(deps, deps.links.fresh ?? deps.links, message, signed);
  }
}

function draftOf(deps: CreationDeps, signed: SignedMessage, purchase: Purchase): NewSession {
  const { quote, chosenTotal, versioned } = purchase;
  const draft = draftLinkSession(deps, {
    link: versioned.link,
    payer: signed.payer,
    token: quote.route.paymentToken,
    paymentValue: quote.amounts.paymentValue,
    ...(chosenTotal === undefined ? {} : { chosenTotal }),
  });
  return { ...draft, products: versioned.products };
}

/** Compares the message with the link's terms. Reads cached terms again before refusing. */
async function checkTerms(
  deps: CreationDeps,
  message: CreateSessionMessage,
  signed: SignedMessage,
): Promise<Purchase> {
  try {
    return await termsOf(deps, deps.links, message, signed);
  } catch (error) {
    if (!(error instanceof Refusal) || deps.links.fresh === undefined) throw error;
    return termsOf(deps, deps.links.fresh, message, signed);
  }
}

async function termsOf(
  deps: CreationDeps,
  links: LinkReader,
  message: CreateSessionMessage,
  signed: SignedMessage,
): Promise<Purchase> {
  assertPurpose({ purpose: 'create_payment_session', message });
  const versioned = await openLink(links, message.linkId);
  const { link } = versioned;
  if (message.merchantId !== link.merchantId)
    throw new Refusal('merchant_mismatch', { param: 'message.merchantId' });
  assertServed(deps.chains, signed.payer);
  assertVersion(deps, link, message.linkVersion);
  const purchase = purchaseOf(link, routeOf(deps, link, signed), message.amount);
  assertInTime(deps, signed);
  return { versioned, ...purchase };
}

async function sessionOf(queryable: Queryable, sessionId: string): Promise<StoredSession> {
  const session = await findSession(queryable, sessionId);
  if (session === undefined) throw new Error(`an authorization names the unknown session ${sessionId}`);
  return session;
}

async function openLink(links: LinkReader, linkId: string): Promise<VersionedLink> {
  const found = await links.find(linkId);
  if (found === undefined) throw new Refusal('link_not_found', linkId);
  if (found.link.status === 'deleted') throw new Refusal('link_archived', linkId);
  if (found.link.status !== 'active') throw new Refusal('link_not_active', linkId);
  return found;
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

/** Compares the signed amount, in smallest units, with the quote: exactly for fixed links, by range for custom ones. */
function purchaseOf(link: StoredLink, route: Route, amountText: string): Omit<Purchase, 'versioned'> {
  const amount = tokenAmount(BigInt(amountText));
  const param = 'message.amount';
  if (link.linkType === 'custom') {
    const chosenTotal = toMicroUsd(amount, route.paymentToken.decimals);
    if (chosenTotal === undefined) {
      throw new Refusal('amount_mismatch', {
        param,
        detail: 'must be a whole number of Micro-USD',
        data: openToken(route, link.feeModel) ?? offeredToken(route, undefined),
      });
    }
    const quote = quoteOfTotal(route, { totalValue: chosenTotal, feeModel: link.feeModel });
    if (quote === undefined) throw outOfBounds(route, totalBounds(route, link.feeModel), param);
    return { quote, chosenTotal };
  }
  const quote = quoteFor(route, linkTerms(link));
  if (quote === undefined) throw outOfBounds(route, priceBounds(route, link.feeModel));
  if (amount !== quote.amountInToken) {
    throw new Refusal('amount_mismatch', {
      param,
      detail: `must be ${quote.amountInToken}`,
      data: offeredToken(route, quote),
    });
  }
  return { quote, chosenTotal: undefined };
}

/** One minute: sessions expire after half an hour, so places free up steadily. */
const quotaRetrySeconds = 60;

/** The refusal of a session to a payer who has the most open ones allowed. */
export function openSessionsRefusal({
  maxOpenSessions,
}: Pick<AuthorizationDeps, 'maxOpenSessions'>): Refusal {
  return new Refusal('rate_limited', {
    detail: `the payer has ${maxOpenSessions} open sessions`,
    retryAfterSeconds: quotaRetrySeconds,
  });
}
