import type { Database, Queryable } from '@florin/pg';
import type { CreateSessionBody, CreateSessionMessage } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { type MicroUsd, tokenAmount, toMicroUsd } from '@florin/protocol/money.ts';
import { cachedLinkReader, type LinkReader, type VersionedLink } from '#links/link-reader.ts';
import { notActive } from '#links/link-terms.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { assertServed } from '#orders/order.ts';
import {
  assertRouteOpen,
  outOfBounds,
  type PaymentRoute,
  priceBounds,
  type Quote,
  quoteOfTotal,
  routeFrom,
  totalBounds,
} from '#orders/quote.ts';
import { draftLinkSession, findSession } from '#sessions/session.ts';
import type { NewSession } from '#sessions/session-insert.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import {
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
import type { AuthorizationContext } from './context.ts';
import { type CreationInserter, groupCreationInserter } from './creation-insert.ts';
import type { AgentMessage } from './cryptography.ts';
import { linkView } from './link-view.ts';
import { linkTerms, offeredToken, openToken, quoteFor } from './offer.ts';

/** The parts of session creation that concurrent requests share: look-ups, terms and inserts. */
export interface CreationParts {
  readonly db: Queryable;
  readonly findClaim: ClaimFinder;
  readonly links: LinkReader;
  readonly insertCreation: CreationInserter;
}

export function creationPartsOf(db: Database, deps: AuthorizationContext): CreationParts {
  return {
    db,
    findClaim: groupClaimFinder(db),
    links: cachedLinkReader(db, deps.clock),
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
  deps: AuthorizationContext,
  parts: CreationParts,
  { message, signature }: CreateSessionBody,
): Promise<{ session: StoredSession; isReplay: boolean }> {
  const agentMessage: AgentMessage = { purpose: 'create_payment_session', message };
  const signed = parseSignedMessage(deps, agentMessage, signature);
  const earlier = await earlierSession(deps, parts, signed);
  if (earlier !== undefined) return earlier;
  // Cached terms may be stale: read them again before refusing.
  const fresh = parts.links.fresh ?? parts.links;
  let purchase: Purchase;
  try {
    purchase = await termsOf(deps, parts.links, message, signed);
  } catch (error) {
    if (!(error instanceof Refusal) || fresh === parts.links) throw error;
    purchase = await termsOf(deps, fresh, message, signed);
  }
  if (!(await isSignatureValid(deps, signed))) {
    if (fresh !== parts.links) await termsOf(deps, fresh, message, signed);
    throw new Refusal('signature_invalid', { param: 'signature' });
  }
  deps.admitCreation?.(purchase.versioned.link.linkId);
  for (let rereads = 0; ; rereads += 1) {
    const created = draftOf(deps, signed, purchase);
    const linkRowVersion = purchase.versioned.rowVersion;
    const outcome = await parts.insertCreation({ created, signed, linkRowVersion });
    if (outcome === 'stored') return { session: created.session, isReplay: false };
    // A concurrent identical request may have been first.
    const other = await earlierSession(deps, parts, signed);
    if (other !== undefined) return other;
    if (outcome === 'over_quota') throw openSessionsRefusal(deps);
    if (rereads === maxRereads) throw new Refusal('create_failed', 'the link is being changed');
    purchase = await termsOf(deps, fresh, message, signed);
  }
}

/** How often the terms are read again when they change before the session is stored. */
const maxRereads = 3;

async function earlierSession(
  deps: AuthorizationContext,
  { db, findClaim }: CreationParts,
  signed: SignedMessage,
): Promise<{ session: StoredSession; isReplay: true } | undefined> {
  const claimed = await findClaimed(findClaim, deps, signed);
  if (claimed === undefined) return undefined;
  const session = await findSession(db, claimed.sessionId);
  if (session === undefined)
    throw new Error(`an authorization names the unknown session ${claimed.sessionId}`);
  return { session, isReplay: true };
}

function draftOf(deps: AuthorizationContext, signed: SignedMessage, purchase: Purchase): NewSession {
  const { quote, chosenTotal, versioned } = purchase;
  const { link, products } = versioned;
  const { paymentToken: token } = quote.route;
  const { paymentValue } = quote.amounts;
  const draft = draftLinkSession(deps, { link, payer: signed.payer, token, paymentValue, chosenTotal });
  return { ...draft, products };
}

/** Compares the message with the link's terms. */
async function termsOf(
  deps: AuthorizationContext,
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

async function openLink(links: LinkReader, linkId: string): Promise<VersionedLink> {
  const found = await links.find(linkId);
  if (found === undefined) throw new Refusal('link_not_found', linkId);
  if (found.link.status === 'deleted') throw new Refusal('link_archived', linkId);
  if (found.link.status !== 'active') throw notActive(found.link);
  return found;
}

function assertVersion(deps: AuthorizationContext, link: StoredLink, version: string): void {
  if (version === link.versionCode) return;
  throw new Refusal('link_version_invalid', {
    param: 'message.linkVersion',
    detail: `the link is now at ${link.versionCode}`,
    data: { latest: linkView(deps, link) },
  });
}

function routeOf(deps: AuthorizationContext, link: StoredLink, signed: SignedMessage): PaymentRoute {
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
function purchaseOf(link: StoredLink, route: PaymentRoute, amountText: string): Omit<Purchase, 'versioned'> {
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
}: Pick<AuthorizationContext, 'maxOpenSessions'>): Refusal {
  return new Refusal('rate_limited', {
    detail: `the payer has ${maxOpenSessions} open sessions`,
    retryAfterSeconds: quotaRetrySeconds,
  });
}
