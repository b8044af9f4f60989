import { createHmac, timingSafeEqual } from 'node:crypto';
import { isChainUnavailable, Refusal } from '@florin/protocol/error.ts';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { X402Requirements } from '@florin/protocol/x402.ts';
import { linkTerms, quoteFor, sessionTerms, type Terms } from '#authorizations/offer.ts';
import type { TokenDomain } from '#contracts/token-signing.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { draftOrder } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import {
  assertRouteOpen,
  outOfBounds,
  type PaymentRoute,
  quoteOfTotal,
  routeFrom,
  routesTo,
  totalBounds,
} from '#orders/quote.ts';
import { receiverOf } from '#orders/receiver.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import { draftLinkSession } from '#sessions/session.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { asking } from '#submissions/signed-order.ts';
import type { X402Context } from './context.ts';

/** What is paid for: a link, whose session is created with the payment, or an existing session. */
export type Resource =
  | {
      readonly kind: 'link';
      readonly link: StoredLink;
      /** Custom links: the total that the payer chose. */
      readonly chosenTotal?: MicroUsd | undefined;
    }
  | { readonly kind: 'session'; readonly session: StoredSession };

/** The inputs of an offer's deposit address, enough to derive it again. So an offer needs no row. */
export interface OfferTerms {
  /** 32 bytes in hex from which the session's ids and secrets derive; empty for existing sessions. */
  readonly seed: string;
  /** Unix seconds. */
  readonly issuedAt: number;
  /** The link's version; empty for sessions. */
  readonly version: string;
  /** The address that gets everything that does not pay the order. */
  readonly refundAddress: Hex;
}

/** An order as it would be signed, with the session that it pays. Neither is stored. */
export interface DraftedOrder {
  readonly session: StoredSession;
  readonly order: Omit<StoredOrder, 'signature'>;
  readonly payTo: Hex;
}

/** How long an offer is valid. A client's signature must be valid for as long. */
export const offerSeconds = 300;

/** Derives everything from the terms of an offer: the same terms always give the same order. */
export async function draftOffer(
  deps: X402Context,
  resource: Resource,
  terms: OfferTerms,
  token: Token,
): Promise<DraftedOrder> {
  const session = sessionFor(deps, resource, terms, token);
  const order = draftOrder(deps, { session, payer: terms.refundAddress, payerEmail: '', token });
  const chain = deps.chains.byId(order.chainId);
  if (chain === undefined) throw new Error(`an order for the unknown chain ${order.chainId}`);
  return { session, order, payTo: receiverOf(gatewayOf(order, chain), order.orderId) };
}

function sessionFor(deps: X402Context, resource: Resource, terms: OfferTerms, token: Token): StoredSession {
  if (resource.kind === 'session') return resource.session;
  const made = { ...deps, ...seeded(deps, terms) };
  return draftLinkSession(made, { link: resource.link, ...purchaseOf(deps, resource, token) }).session;
}

/**
 * The id of the session that an offer for a link creates. It follows from the offer alone, even after the link changes.
 */
export function offeredSessionId(deps: X402Context, link: StoredLink, terms: OfferTerms): string {
  const made = { ...deps, ...seeded(deps, terms) };
  return draftLinkSession(made, { link, paymentValue: link.amount }).session.sessionId;
}

/**
 * The purchase of a link in one token: its price, or the merchant's part of the chosen total. Refuses a token without a
 * route (100608) and a total that the route does not take (100209).
 */
export function purchaseOf(
  deps: X402Context,
  { link, chosenTotal }: Extract<Resource, { kind: 'link' }>,
  token: Token,
): { readonly paymentValue: MicroUsd; readonly chosenTotal?: MicroUsd } {
  if (chosenTotal === undefined) return { paymentValue: link.amount };
  const ends = { paymentTokenId: token.tokenId, settlementTokenId: link.settlementToken };
  const route = routeFrom(deps.chains, deps.rates, ends);
  if (route === undefined) throw new Refusal('payment_token_unsupported', token.tokenId);
  const quote = quoteOfTotal(route, { totalValue: chosenTotal, feeModel: link.feeModel });
  if (quote === undefined) throw outOfBounds(route, totalBounds(route, link.feeModel), 'amountInUSD');
  return { paymentValue: quote.amounts.paymentValue, chosenTotal };
}

/** The clock and random values of the time when the offer was made. */
export function seeded(deps: X402Context, terms: OfferTerms): { clock: Clock; random: Random } {
  let count = 0;
  const bytes = (size: number): Uint8Array => {
    const blocks: Buffer[] = [];
    for (let length = 0; length < size; length += 32) {
      // Keyed: the client knows the seed, and must not know the session's secrets.
      blocks.push(createHmac('sha256', deps.offerKey).update(`seed ${terms.seed} ${count}`).digest());
      count += 1;
    }
    return new Uint8Array(Buffer.concat(blocks).subarray(0, size));
  };
  const at = new Date(terms.issuedAt * 1000);
  return { clock: { ...deps.clock, now: () => at }, random: { bytes, fraction: deps.random.fraction } };
}

/**
 * A payment option for each token with EIP-3009 authorizations whose route takes the amount. Leaves out tokens whose chain
 * does not work. Refuses with chain_unavailable only when no other option is left.
 */
export async function requirementsFor(
  deps: X402Context,
  resource: Resource,
  terms: OfferTerms,
): Promise<X402Requirements[]> {
  const settlementToken =
    resource.kind === 'link' ? resource.link.settlementToken : resource.session.settlementToken;
  const routes = routesTo(deps.chains, deps.rates, settlementToken);
  const answers = await Promise.allSettled(
    routes.map((route) => requirementFor(deps, resource, terms, route)),
  );
  const failures = answers.filter((answer) => answer.status === 'rejected').map(({ reason }) => reason);
  for (const failure of failures) if (!isChainUnavailable(failure)) throw failure;
  const found = answers
    .map((answer) => (answer.status === 'fulfilled' ? answer.value : undefined))
    .filter((requirement) => requirement !== undefined);
  if (found.length === 0 && failures.length > 0) throw failures[0];
  return found;
}

async function requirementFor(
  deps: X402Context,
  resource: Resource,
  terms: OfferTerms,
  route: PaymentRoute,
): Promise<X402Requirements | undefined> {
  const { paymentToken: token } = route;
  if (quoteFor(route, termsOf(resource)) === undefined) return undefined;
  if (resource.kind === 'session' && ![token.tokenId, ''].includes(resource.session.intendedToken))
    return undefined;
  assertRouteOpen(route);
  const domain = await domainOf(deps, token);
  if (domain === undefined) return undefined;
  const { order, payTo } = await draftOffer(deps, resource, terms, token);
  const { merchantId } = resource.kind === 'link' ? resource.link : resource.session;
  if (order.amounts.totalValue < deps.gasless.minAmount) return undefined;
  if (deps.gasless.isOffered?.(token.chainId, merchantId) === false) return undefined;
  const shown = {
    scheme: 'exact',
    network: `eip155:${token.chainId}`,
    amount: order.order.total.toString(),
    asset: token.address,
    payTo,
    maxTimeoutSeconds: offerSeconds,
  } as const;
  const { name, version } = domain;
  return { ...shown, extra: { name, version, offer: sealOffer(deps, shown, terms) } };
}

/** The terms of what is to be paid. */
function termsOf(resource: Resource): Terms {
  if (resource.kind === 'session') return sessionTerms(resource.session);
  const { link, chosenTotal } = resource;
  const terms = linkTerms(link);
  return chosenTotal === undefined ? terms : { ...terms, price: { kind: 'total', totalValue: chosenTotal } };
}

/** A token's domain; undefined when the token does not take EIP-3009 authorizations. */
export async function domainOf(deps: X402Context, token: Token): Promise<TokenDomain | undefined> {
  const signing = await asking(token.chainName, () => deps.gasless.signingOf(token));
  return signing.permits.has('eip3009') ? signing.domain : undefined;
}

type Shown = Omit<X402Requirements, 'extra'>;

function macOf(deps: Pick<X402Context, 'offerKey'>, shown: Shown, body: string): Buffer {
  const { network, amount, asset, payTo } = shown;
  const text = ['x402 offer', network, amount, asset.toLowerCase(), payTo.toLowerCase(), body].join('\n');
  return createHmac('sha256', deps.offerKey).update(text).digest();
}

/** Encodes the terms into an offer. Its client can read them and cannot change them. */
export function sealOffer(deps: Pick<X402Context, 'offerKey'>, shown: Shown, terms: OfferTerms): string {
  const { seed, issuedAt, version, refundAddress } = terms;
  const body = Buffer.from(JSON.stringify([seed, issuedAt, version, refundAddress])).toString('base64url');
  return `${body}.${macOf(deps, shown, body).toString('base64url')}`;
}

/** The terms of an offer that this service made for exactly these requirements; undefined for anything else. */
export function openOffer(
  deps: Pick<X402Context, 'offerKey'>,
  accepted: X402Requirements,
): OfferTerms | undefined {
  const [body = '', mac = ''] = accepted.extra.offer.split('.');
  const expected = macOf(deps, accepted, body);
  const given = Buffer.from(mac, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  // The MAC says that these are the bytes that `sealOffer` wrote.
  const [seed, issuedAt, version, refundAddress] = JSON.parse(
    Buffer.from(body, 'base64url').toString('utf8'),
  ) as [string, number, string, Hex];
  return { seed, issuedAt, version, refundAddress };
}
