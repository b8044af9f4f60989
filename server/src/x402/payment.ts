import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { transferAuthorizationTypes } from '@florin/protocol/typed-data.ts';
import type { X402Payment, X402Receipt } from '@florin/protocol/x402.ts';
import {
  encodeFunctionData,
  getAddress,
  hashTypedData,
  hexToBytes,
  hexToNumber,
  parseAbi,
  slice,
} from 'viem';
import { isPaymentSignedBy } from '#authorizations/signature.ts';
import type { SendPlan } from '#chains/sender/sender.ts';
import type { TokenDomain } from '#chains/token-signing.ts';
import type { Database, Transaction } from '#db/database.ts';
import { unixSeconds } from '#outside/clock.ts';
import { isCanonicalSignature } from '#outside/secp256k1.ts';
import { assertPayable, findOrder, prepareOrder } from '#sessions/order.ts';
import { gatewayOf } from '#sessions/order-gateway.ts';
import { receiverOf } from '#sessions/receiver.ts';
import { createLinkSession, findSession, lockSession } from '#sessions/session.ts';
import type { StoredOrder } from '#sessions/stored-session.ts';
import { asking } from '#submissions/signed-order.ts';
import { findSubmission, findSubmittedOrders, recordSubmission } from '#submissions/submission.ts';
import {
  type DraftedOrder,
  domainOf,
  draftOffer,
  type OfferDeps,
  type OfferTerms,
  offeredSessionId,
  offerSeconds,
  openOffer,
  purchaseOf,
  type Resource,
  seeded,
} from './offer.ts';
import { lockOffer } from './payment.sql.ts';

export interface PaymentDeps extends OfferDeps {
  readonly db: Database;
  /** How long a request waits for its payment to be seen in a block, in milliseconds. */
  readonly waitMs: number;
}

/**
 * What became of a payment. refused: nothing was sent, and nothing of it will be: pay anew. taken: it is sent, now or
 * before, and its order is paid once whatever is asked again.
 */
export type PaymentResult =
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'taken'; readonly receipt: X402Receipt; readonly isSeen: boolean };

/** Orders of one session for which something was sent that an offer is looked for among. */
const comparedOrders = 20;

/**
 * What became of a payment that was sent before; undefined when none was, or it moved no money. It goes by what is stored:
 * by now the link may be another or closed, or a chain unavailable, and whoever has paid must not be asked to pay again.
 */
export async function paymentBefore(
  deps: PaymentDeps,
  resource: Resource,
  payment: X402Payment,
): Promise<PaymentResult | undefined> {
  const terms = openOffer(deps, payment.accepted);
  if (terms === undefined) return undefined;
  const session =
    resource.kind === 'session'
      ? resource.session
      : await findSession(deps.db, offeredSessionId(deps, resource.link, terms));
  // An offer of another link is none of this one's.
  if (session === undefined || (resource.kind === 'link' && session.businessId !== resource.link.linkId))
    return undefined;
  const { sessionId } = session;
  const submitted = await findSubmittedOrders(deps.db, sessionId, comparedOrders);
  // Somebody else may have brought the money: then nothing was sent, and the session says which order is paid.
  const paid = session.orderId === '' ? undefined : await findOrder(deps.db, session.orderId);
  const orders = paid === undefined ? submitted : [paid, ...submitted];
  const order = orders.find((each) => isPaidTo(deps, each, payment.accepted.payTo));
  if (order === undefined) return undefined;
  const asked = { orderId: order.orderId, sessionId };
  return (await receiptOf(deps, asked, payment)) === undefined
    ? undefined
    : waitUntilSeen(deps, asked, { payment, isMoved: false });
}

function isPaidTo({ chains }: PaymentDeps, order: StoredOrder, payTo: string): boolean {
  const chain = chains.byId(order.chainId);
  return (
    chain !== undefined &&
    receiverOf(gatewayOf(order, chain), order.orderId).toLowerCase() === payTo.toLowerCase()
  );
}

/** Takes a signed payment for an offer: checks, sends once, and waits until it is seen. Call outside a transaction. */
export async function takePayment(
  deps: PaymentDeps,
  resource: Resource,
  request: { readonly payment: X402Payment; readonly network: string },
): Promise<PaymentResult> {
  const { payment } = request;
  const { accepted } = payment;
  const terms = openOffer(deps, accepted);
  const token = deps.chains.tokenAt(Number(accepted.network.slice('eip155:'.length)), accepted.asset);
  if (terms === undefined || token === undefined) return refusedFor('invalid_payment_requirements');
  // A link that has changed since gives another order: what was sent for the old one is found by `paymentBefore`.
  const drafted = await draftOffer(deps, resource, terms, token);
  if (drafted.payTo.toLowerCase() !== accepted.payTo.toLowerCase())
    return refusedFor('invalid_payment_requirements');
  const asked = { orderId: drafted.order.orderId, sessionId: drafted.session.sessionId };
  let isMoved = false;
  if ((await receiptOf(deps, asked, payment)) === undefined) {
    const sent = await send(deps, resource, { ...request, terms, token, drafted });
    if ('reason' in sent) return refusedFor(sent.reason);
    ({ isMoved } = sent);
  }
  return waitUntilSeen(deps, asked, { payment, isMoved });
}

/** The order that a payment is for, be it stored or only drafted. */
interface AskedOrder {
  readonly orderId: string;
  readonly sessionId: string;
}

function refusedFor(reason: string): PaymentResult {
  return { kind: 'refused', reason };
}

interface Attempt {
  readonly payment: X402Payment;
  readonly network: string;
  readonly terms: OfferTerms;
  readonly token: Token;
  readonly drafted: DraftedOrder;
}

/** isMoved: somebody else has brought the money to the deposit address already. */
type Sent = { readonly isMoved: boolean } | { readonly reason: string };

/** Sends a payment that was not sent before; the reason when it cannot be. */
async function send(deps: PaymentDeps, resource: Resource, attempt: Attempt): Promise<Sent> {
  const { payment, terms, token, drafted } = attempt;
  const now = unixSeconds(deps.clock.now());
  if (now > terms.issuedAt + offerSeconds) return { reason: 'offer_expired' };
  assertPayable(drafted.session, deps.clock.now());
  const { domain } = await domainOf(deps, token);
  if (domain === undefined) return { reason: 'invalid_payment_requirements' };
  const flaw = flawOf(payment, drafted, now);
  if (flaw !== undefined) return { reason: flaw };
  if (!(await isSigned(deps, token, domain, payment)))
    return { reason: 'invalid_exact_evm_payload_signature' };
  const plan = await planOf(deps, token, payment);
  const isMoved = plan === undefined && (await isUsed(deps, token, payment));
  if (plan === undefined && !isMoved) return { reason: 'insufficient_funds' };
  const transactionId = await deps.db.transaction((transaction) =>
    record(transaction, deps, resource, { ...attempt, plan }),
  );
  if (transactionId !== undefined) await deps.sender.broadcast(transactionId);
  return { isMoved };
}

/** Seconds that an authorization must still be valid for, so that it reaches a block. */
const leastValiditySeconds = 6;

function flawOf({ payload }: X402Payment, { order, payTo }: DraftedOrder, now: number): string | undefined {
  const { authorization } = payload;
  if (authorization.to.toLowerCase() !== payTo.toLowerCase())
    return 'invalid_exact_evm_payload_recipient_mismatch';
  if (BigInt(authorization.value) !== order.order.total)
    return 'invalid_exact_evm_payload_authorization_value_mismatch';
  if (BigInt(authorization.validAfter) > BigInt(now))
    return 'invalid_exact_evm_payload_authorization_valid_after';
  if (BigInt(authorization.validBefore) < BigInt(now + leastValiditySeconds))
    return 'invalid_exact_evm_payload_authorization_valid_before';
  return undefined;
}

function isSigned(
  deps: PaymentDeps,
  token: Token,
  domain: TokenDomain,
  { payload }: X402Payment,
): Promise<boolean> {
  const { authorization, signature } = payload;
  const payer = getAddress(authorization.from);
  const digest = hashTypedData({
    domain,
    types: transferAuthorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: payer,
      to: getAddress(authorization.to),
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce as Hex,
    },
  });
  const claim = { chainId: token.chainId, payer, digest, signature: signature.toLowerCase() as Hex };
  return isPaymentSignedBy(deps, claim);
}

const byPartsAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);
const byBytesAbi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

/** The token's call that an authorization allows. */
export function transferCall({
  authorization,
  signature,
}: Pick<X402Payment['payload'], 'authorization' | 'signature'>): Hex {
  const terms = [
    getAddress(authorization.from),
    getAddress(authorization.to),
    BigInt(authorization.value),
    BigInt(authorization.validAfter),
    BigInt(authorization.validBefore),
    authorization.nonce as Hex,
  ] as const;
  const functionName = 'transferWithAuthorization';
  const bytes = signature as Hex;
  // Wallets that are contracts may have signatures of any kind; those of keys the token takes in parts as well.
  if (!isCanonicalSignature(hexToBytes(bytes)))
    return encodeFunctionData({ abi: byBytesAbi, functionName, args: [...terms, bytes] });
  const [r, s, v] = [slice(bytes, 0, 32), slice(bytes, 32, 64), hexToNumber(slice(bytes, 64))];
  return encodeFunctionData({ abi: byPartsAbi, functionName, args: [...terms, v, r, s] });
}

/** The transaction that moves the payment to its deposit address; undefined when the token would refuse it now. */
async function planOf(deps: PaymentDeps, token: Token, payment: X402Payment): Promise<SendPlan | undefined> {
  const data = transferCall(payment.payload);
  const request = { purpose: 'relay', to: token.address, data } as const;
  const plan = await asking(token.chainName, () => deps.sender.plan(token.chainId, request));
  if (!('reverted' in plan)) return plan;
  if (plan.isWithheld === true)
    throw new Refusal('method_not_available', 'our gas is kept for settlements: pay by another method');
  return undefined;
}

/**
 * Whether the authorization was used already: somebody else has brought it to the token, so the money lies at the deposit
 * address, and asking for another payment would be asking twice.
 */
async function isUsed(
  deps: PaymentDeps,
  token: Token,
  { payload: { authorization } }: X402Payment,
): Promise<boolean> {
  const args = [getAddress(authorization.from), authorization.nonce as Hex] as const;
  const data = encodeFunctionData({ abi: stateAbi, functionName: 'authorizationState', args });
  const call = { to: token.address, data, gas: stateGas };
  const answer = await deps.payerChain.callAt(token.chainId, call);
  return answer !== undefined && BigInt(answer) === 1n;
}

const stateAbi = parseAbi([
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
]);
/** Far above what any token needs for the read. */
const stateGas = 500_000n;

/** Stores session, order and transaction together, before anything is broadcast. Undefined when another request was first. */
async function record(
  transaction: Transaction,
  deps: PaymentDeps,
  resource: Resource,
  attempt: Attempt & { readonly plan: SendPlan | undefined },
): Promise<bigint | undefined> {
  const { payment, terms, token, drafted, plan, network } = attempt;
  await transaction.query(lockOffer, [drafted.order.orderId]);
  const earlier = await findSubmission(transaction, drafted.order.orderId);
  if (earlier !== undefined && earlier.status !== 'failed') return undefined;
  const payer = getAddress(payment.payload.authorization.from);
  const { sessionId } = drafted.session;
  if (resource.kind === 'link' && (await findSession(transaction, sessionId)) === undefined) {
    const { link } = resource;
    const made = { ...deps, ...seeded(deps, terms) };
    const purchase = purchaseOf(deps, resource, token);
    await createLinkSession(transaction, made, { link, payer, token, ...purchase });
  }
  const session = await lockSession(transaction, sessionId);
  if (session === undefined) throw new Error(`the session ${sessionId} has vanished`);
  // As it was offered: the address of an order that is held, whatever other chains have by now.
  const settlementMode = 'escrow' as const;
  const request = { session, payer: terms.refundAddress, payerEmail: '', token, settlementMode };
  const order = await prepareOrder(transaction, deps, request);
  if (order.orderId !== drafted.order.orderId)
    throw new Refusal('chain_unavailable', 'the terms have changed');
  // The money is there: looking after deposit addresses does the rest.
  if (plan === undefined) return undefined;
  const { transactionId } = await recordSubmission(transaction, deps, {
    order,
    method: 'x402',
    payer,
    network,
    plan,
  });
  return transactionId;
}

/**
 * What is known of an offer's payment; undefined when nothing was sent, or what was sent has moved no money. `isMoved`: the
 * money lies at the deposit address, whoever brought it.
 */
async function receiptOf(
  deps: PaymentDeps,
  { orderId, sessionId }: AskedOrder,
  payment: X402Payment,
  isMoved = false,
): Promise<Extract<PaymentResult, { kind: 'taken' }> | undefined> {
  const session = await findSession(deps.db, sessionId);
  const submission = await findSubmission(deps.db, orderId);
  const isSent = isMoved || (submission !== undefined && submission.status !== 'failed');
  const isPaid = session?.orderId === orderId;
  // Before it is final the session does not say which order paid it; for one that was sent it is this one, or none.
  const isSeen = isPaid || (isSent && session?.orderId === '' && session.initiateTx !== '');
  if (!isSeen && !isSent) return undefined;
  return {
    kind: 'taken',
    isSeen,
    receipt: {
      sessionId,
      status: isSeen ? (session?.status ?? 'initialized') : 'settlement_pending',
      // Before the payment is seen: the transaction that brings the money.
      txHash: isSeen ? (session?.initiateTx ?? '') : (submission?.tx_hash ?? ''),
      network: payment.accepted.network,
      payer: getAddress(payment.payload.authorization.from),
    },
  };
}

const lookMs = 100;

async function waitUntilSeen(
  deps: PaymentDeps,
  asked: AskedOrder,
  { payment, isMoved }: { readonly payment: X402Payment; readonly isMoved: boolean },
): Promise<PaymentResult> {
  const end = deps.clock.monotonicMs() + deps.waitMs;
  for (;;) {
    const taken = await receiptOf(deps, asked, payment, isMoved);
    if (taken?.isSeen === true) return taken;
    // It was reverted for good, which its simulation did not foresee: the same payment may be sent again.
    if (taken === undefined) return refusedFor('transaction_failed');
    if (deps.clock.monotonicMs() >= end) return taken;
    await deps.clock.sleep(lookMs);
  }
}
