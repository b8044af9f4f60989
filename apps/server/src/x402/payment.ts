import type { SendPlan } from '@florin/evm';
import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { X402Payment } from '@florin/protocol/x402.ts';
import { lockPayer } from '#authorizations/authorization.ts';
import { openSessionsRefusal } from '#authorizations/creation.ts';
import type { StoredLink } from '#links/stored-link.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { unixSeconds } from '#outside/clock.ts';
import { assertPayable, prepareOrder } from '#sessions/order-preparation.ts';
import { createLinkSession, findSession, lockSession } from '#sessions/session.ts';
import { asking } from '#submissions/signed-order.ts';
import { isSmartAccount } from '#submissions/smart-account.ts';
import { findSubmission, recordSubmission } from '#submissions/submission.ts';
import {
  type AcceptedPayment,
  findPayments,
  findPaymentTo,
  type RequestedPayment,
  requestedPayment,
  waitUntilSeen,
} from './accepted-payment.ts';
import { findArrival } from './arrival.ts';
import type { X402Context } from './context.ts';
import {
  type DraftedOrder,
  domainOf,
  draftOffer,
  type OfferTerms,
  offeredSessionId,
  offerSeconds,
  openOffer,
  purchaseOf,
  type Resource,
  seeded,
} from './offer.ts';
import { authorizationRoom, lockOffer, upsertPayment } from './payment.sql.ts';
import {
  authorizedTransferCall,
  flawOf,
  isAuthorizationSigned,
  payloadHashOf,
} from './transfer-authorization.ts';

/** The result of a payment. refused: nothing was or will be sent, so the client may pay anew. */
export type X402Result = { readonly kind: 'refused'; readonly reason: string } | AcceptedPayment;

/**
 * The result of a payment that was accepted before; undefined when there was none, or it moved no money. Uses stored
 * rows only: the link may have changed or closed since, and a payer who has paid must not be asked to pay again.
 * Refuses (100613) a request with a different authorization.
 */
export async function paymentBefore(
  deps: X402Context,
  resource: Resource,
  payment: X402Payment,
): Promise<X402Result | undefined> {
  const { accepted } = payment;
  const terms = openOffer(deps, accepted);
  const token = tokenOf(deps, payment);
  if (terms === undefined || token === undefined) return undefined;
  const row = await findPaymentTo(deps.db, token.chainId, accepted.payTo);
  if (row === undefined) {
    if (resource.kind === 'link') await assertNew(deps, resource.link, terms, accepted);
    return undefined;
  }
  // An offer of another link or session does not belong to this one.
  const isOwn =
    resource.kind === 'link'
      ? row.business_id === resource.link.linkId
      : row.session_id === resource.session.sessionId;
  return isOwn ? waitUntilSeen(deps, row, requestedPayment(resource, payment, token)) : undefined;
}

/**
 * Refuses (100613) an offer of a link that created its session without a stored payment: older payments were not stored
 * by address.
 */
async function assertNew(
  deps: X402Context,
  link: StoredLink,
  terms: OfferTerms,
  { network, payTo }: X402Payment['accepted'],
): Promise<void> {
  if ((await findSession(deps.db, offeredSessionId(deps, link, terms))) === undefined) return;
  // Both are stored in one transaction, perhaps since the first look-up: then the payment is found now.
  if ((await findPaymentTo(deps.db, chainIdOf(network), payTo)) !== undefined) return;
  throw new Refusal('order_already_paid', 'look at its session');
}

function tokenOf({ chains }: X402Context, { accepted }: X402Payment): Token | undefined {
  return chains.tokenAt(chainIdOf(accepted.network), accepted.asset);
}

function chainIdOf(network: string): number {
  return Number(network.slice('eip155:'.length));
}

/**
 * Accepts a signed payment for an offer: checks it, sends it once, and waits until it is seen. Call outside a
 * transaction.
 */
export async function acceptPayment(
  deps: X402Context,
  resource: Resource,
  request: { readonly payment: X402Payment; readonly network: string },
): Promise<X402Result> {
  const { payment } = request;
  const { accepted } = payment;
  const terms = openOffer(deps, accepted);
  const token = tokenOf(deps, payment);
  if (terms === undefined || token === undefined) return refusedFor('invalid_payment_requirements');
  // A changed link gives another order. `paymentBefore` finds what was sent for the old one.
  const drafted = await draftOffer(deps, resource, terms, token);
  if (drafted.payTo.toLowerCase() !== accepted.payTo.toLowerCase())
    return refusedFor('invalid_payment_requirements');
  const asked = requestedPayment(resource, payment, token);
  const reason = await send(deps, resource, { ...request, terms, token, drafted, asked });
  const row = await findPaymentTo(deps.db, token.chainId, accepted.payTo);
  if (row === undefined) return refusedFor(reason ?? 'transaction_failed');
  // Another request with this payment may have been first, and its money may have moved since.
  const taken = await waitUntilSeen(deps, row, asked);
  // It reverted for good although its simulation succeeded: the same payment may be sent again.
  return taken ?? refusedFor(reason ?? 'transaction_failed');
}

function refusedFor(reason: string): X402Result {
  return { kind: 'refused', reason };
}

interface Attempt {
  readonly payment: X402Payment;
  readonly network: string;
  readonly terms: OfferTerms;
  readonly token: Token;
  readonly drafted: DraftedOrder;
  readonly asked: RequestedPayment;
}

/**
 * Sends a payment that was not sent before; returns the reason when it cannot. All limits are checked before anything
 * is stored.
 */
async function send(deps: X402Context, resource: Resource, attempt: Attempt): Promise<string | undefined> {
  const { payment, terms, token, drafted, asked } = attempt;
  const now = unixSeconds(deps.clock.now());
  if (now > terms.issuedAt + offerSeconds) return 'offer_expired';
  assertPayable(drafted.session, deps.clock.now());
  const domain = await domainOf(deps, token);
  if (domain === undefined) return 'invalid_payment_requirements';
  const { payTo, order } = drafted;
  const flaw = flawOf(payment.payload, { payTo, total: order.order.total, now });
  if (flaw !== undefined) return flaw;
  if (!(await isAuthorizationSigned(deps, token, domain, payment.payload)))
    return 'invalid_exact_evm_payload_signature';
  const plan = await planOf(deps, token, payment);
  if (plan === undefined) {
    const arrival = await findArrival(deps, asked.expected);
    if (arrival === 'foreign') {
      // A plain transfer, which only looking at the chain shows: from now on the deposit watcher looks at the address.
      await deps.db.transaction((transaction) => prepareOffered(transaction, deps, attempt));
      throw new Refusal('order_already_paid', 'by a plain transfer to its address: read the session');
    }
    if (arrival === 'none') return 'insufficient_funds';
  } else if (resource.kind === 'link') {
    // Money that has already arrived is accepted beyond the limits: no other process could return it.
    deps.admitCreation?.(resource.link.linkId);
  }
  const isSmart = plan !== undefined && (await isSmartAccount(deps, asked.expected.payer, plan));
  const transactionId = await deps.db.transaction((transaction) =>
    record(transaction, deps, resource, { ...attempt, plan, isSmartAccount: isSmart }),
  );
  if (transactionId !== undefined) await deps.sender.broadcast(transactionId);
  return undefined;
}

/** The transaction that moves the payment to its deposit address; undefined when the token would refuse it. */
async function planOf(deps: X402Context, token: Token, payment: X402Payment): Promise<SendPlan | undefined> {
  const data = authorizedTransferCall(payment.payload);
  const request = { purpose: 'relay', to: token.address, data } as const;
  const plan = await asking(token.chainName, () => deps.sender.plan(token.chainId, request));
  if (!('reverted' in plan)) return plan;
  if (plan.isWithheld === true)
    throw new Refusal('method_not_available', 'our gas is kept for settlements: pay by another method');
  return undefined;
}

/** Stores session, order and transaction together, before anything is broadcast. Undefined when another request was first. */
async function record(
  transaction: Transaction,
  deps: X402Context,
  resource: Resource,
  attempt: Attempt & { readonly plan: SendPlan | undefined; readonly isSmartAccount: boolean },
): Promise<bigint | undefined> {
  const { payment, terms, token, drafted, asked, plan, network, isSmartAccount: isSmart } = attempt;
  const { sessionId } = drafted.session;
  await transaction.query(lockOffer, { of: sessionId });
  if (await isTaken(transaction, drafted.order.orderId, payment)) return undefined;
  const { payer, payTo } = asked.expected;
  if (resource.kind === 'link' && (await isUnmade(transaction, drafted))) {
    if (plan !== undefined) await assertRoom(transaction, deps, asked);
    const { link } = resource;
    const made = { ...deps, ...seeded(deps, terms) };
    const purchase = purchaseOf(deps, resource, token);
    await createLinkSession(transaction, made, { link, payer, token, ...purchase });
  }
  const order = await prepareOffered(transaction, deps, attempt);
  const isMoved = plan === undefined;
  await transaction.query(upsertPayment, {
    orderId: order.orderId,
    sessionId,
    chainId: order.chainId,
    payTo: payTo.toLowerCase(),
    payloadHash: payloadHashOf(payment),
    isMoved,
    createdAt: deps.clock.now(),
  });
  // The money is there: the deposit watcher does the rest.
  if (isMoved) return undefined;
  const submission = { order, method: 'x402', payer, isSmartAccount: isSmart, network, plan } as const;
  return (await recordSubmission(transaction, deps, submission)).transactionId;
}

/** Stores the order of an offer, so that money at its address is seen. */
async function prepareOffered(
  transaction: Transaction,
  deps: X402Context,
  { terms, token, drafted }: Pick<Attempt, 'terms' | 'token' | 'drafted'>,
): Promise<StoredOrder> {
  const { sessionId } = drafted.session;
  const session = await lockSession(transaction, sessionId);
  if (session === undefined) throw new Error(`the session ${sessionId} is missing`);
  // As offered: the address is that of a held order, regardless of the chains' present settlement modes.
  const settlementMode = 'escrow' as const;
  const signed = { session, payer: terms.refundAddress, payerEmail: '', proof: 'signature' } as const;
  const order = await prepareOrder(transaction, deps, { ...signed, token, settlementMode });
  if (order.orderId !== drafted.order.orderId)
    throw new Refusal('chain_unavailable', 'the terms have changed');
  return order;
}

/**
 * Whether another request with this payment was first. Refuses (100613) when another authorization already pays the
 * order, by x402 or by the AI protocol.
 */
async function isTaken(transaction: Transaction, orderId: string, payment: X402Payment): Promise<boolean> {
  const row = (await findPayments(transaction, [orderId])).get(orderId);
  const submission = await findSubmission(transaction, orderId);
  const isOnItsWay = submission !== undefined && submission.status !== 'failed';
  if (!isOnItsWay && row?.is_moved !== true) return false;
  if (row?.payload_hash !== payloadHashOf(payment))
    throw new Refusal('order_already_paid', 'by another authorization');
  return isOnItsWay;
}

/**
 * Whether an offer of a link has created no session yet. Refuses (100613) one that created its session by a payment in
 * another token: an offer is paid once, on one chain.
 */
async function isUnmade(transaction: Transaction, { session, order }: DraftedOrder): Promise<boolean> {
  if ((await findSession(transaction, session.sessionId)) === undefined) return true;
  if (!(await findPayments(transaction, [order.orderId])).has(order.orderId))
    throw new Refusal('order_already_paid', 'in another token of this offer');
  return false;
}

/** Refuses (900101) another session to a payer with the most open ones allowed, as the AI protocol does. */
async function assertRoom(
  transaction: Transaction,
  deps: X402Context,
  { expected: { payer } }: RequestedPayment,
): Promise<void> {
  await lockPayer(transaction, { payer });
  const [answer] = await transaction.query(authorizationRoom, {
    payer,
    limit: deps.maxOpenSessions ?? null,
    now: deps.clock.now(),
  });
  if ((answer?.room ?? 0n) <= 0n) throw openSessionsRefusal(deps);
}
