import type { Queryable } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { X402Payment, X402Receipt } from '@florin/protocol/x402.ts';
import { getAddress } from 'viem';
import { isPaymentInDoubt } from '#sessions/progress.ts';
import { type ExpectedTransfer, findArrival, isTransferred } from './arrival.ts';
import type { X402Context } from './context.ts';
import type { Resource } from './offer.ts';
import { type PaymentRow, paymentByAddress, paymentsByOrders, setMoved } from './payment.sql.ts';
import { payloadHashOf } from './transfer-authorization.ts';

/** An accepted payment: sent, now or before. Repeated requests pay its order once. */
export interface AcceptedPayment {
  readonly kind: 'taken';
  readonly receipt: X402Receipt;
  readonly isSeen: boolean;
}

/** The accepted payment of an address; undefined when there is none. */
export async function findPaymentTo(
  queryable: Queryable,
  chainId: number,
  payTo: string,
): Promise<PaymentRow | undefined> {
  return (await queryable.query(paymentByAddress, { chainId, payTo: payTo.toLowerCase() }))[0];
}

/** Payments by order for waiting requests; omits unknown ones. */
export async function findPayments(
  queryable: Queryable,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, PaymentRow>> {
  const rows = await queryable.query(paymentsByOrders, { orderIds });
  return new Map(rows.map((row) => [row.order_id, row]));
}

/** A request with its payment, and the transfer that it should cause. */
export interface RequestedPayment {
  readonly payment: X402Payment;
  readonly expected: ExpectedTransfer;
}

/** A signed payment of a resource, and the transfer that it allows. */
export function requestedPayment(resource: Resource, payment: X402Payment, token: Token): RequestedPayment {
  const { payload, accepted } = payment;
  const expected = {
    token,
    payer: getAddress(payload.authorization.from),
    payTo: getAddress(accepted.payTo),
    total: BigInt(accepted.amount),
    // An offer of a link has its own address. Payers of one session may be shown the same address.
    isPrivate: resource.kind === 'link',
  };
  return { payment, expected };
}

/** The facts about an accepted payment. */
export interface PaymentFacts {
  /** The outcome of the transaction that we sent for it; empty when none was sent. */
  readonly sent: 'sent' | 'succeeded' | 'failed' | '';
  /** Whether the chain showed the payer's own transfer to the address. */
  readonly isMoved: boolean;
  /** Whether the order's payment is in a block. */
  readonly isOrderPaid: boolean;
  /** Whether another order paid the session, final. */
  readonly isOtherPaid: boolean;
  readonly isSessionExpired: boolean;
  /** Whether the address was shown to this payer alone: then any payment of its order is this payment. */
  readonly isPrivate: boolean;
}

/**
 * seen: in a block, and by this payer. unproven: the order is paid, perhaps by another payer who was shown the same
 * address. pending: sent, and not seen yet. unsent: no transaction of ours is under way; the chain shows whether the
 * money is there. paid_otherwise and expired: this payment pays nothing, and its money goes back.
 */
export type PaymentOutcome = 'seen' | 'unproven' | 'pending' | 'unsent' | 'paid_otherwise' | 'expired';

export function paymentOutcomeOf(facts: PaymentFacts): PaymentOutcome {
  const { sent, isOrderPaid } = facts;
  const isProven = facts.isPrivate || facts.isMoved || sent === 'succeeded';
  if (isOrderPaid) return isProven ? 'seen' : 'unproven';
  if (facts.isOtherPaid) return 'paid_otherwise';
  if (facts.isSessionExpired) return 'expired';
  return sent === 'sent' || sent === 'succeeded' ? 'pending' : 'unsent';
}

function factsOf(row: PaymentRow, { isPrivate }: ExpectedTransfer): PaymentFacts {
  return {
    // The schema's check constraint is what makes the narrowing true.
    sent: row.sent_status as PaymentFacts['sent'],
    isMoved: row.is_moved,
    isOrderPaid: row.paid_hash !== '',
    isOtherPaid: row.paid_order_id !== '' && row.paid_order_id !== row.order_id,
    isSessionExpired: row.session_status === 'expired',
    isPrivate,
  };
}

/**
 * The state of an accepted payment, for the same authorization or another. undefined: no transaction is under way, and
 * it may be sent. Refuses another authorization (100613), and a payment whose session was paid otherwise (100204) or
 * expired (100203).
 */
async function paymentState(
  deps: X402Context,
  row: PaymentRow,
  asked: RequestedPayment,
): Promise<AcceptedPayment | undefined> {
  const isSame = row.payload_hash === payloadHashOf(asked.payment);
  const outcome = paymentOutcomeOf(factsOf(row, asked.expected));
  if (outcome === 'unsent' && !row.is_moved && !isSame) return undefined;
  // The receipt is for the payer. Only the payer can send this authorization again.
  if (!isSame) throw new Refusal('order_already_paid', 'by another authorization');
  switch (outcome) {
    case 'seen':
      return seen(deps, row, asked);
    case 'pending':
      return takenOf(row, asked.payment, false);
    case 'expired':
      throw new Refusal('session_expired', 'what was sent goes back');
    case 'paid_otherwise':
      throw new Refusal('session_paid', 'by another payment: what was sent goes back');
    case 'unproven':
      return proven(deps, row, asked);
    case 'unsent':
      return arrived(deps, row, asked);
  }
}

/** A block has the payment. While that is in doubt, it is answered as one that no block has yet. */
async function seen(
  deps: X402Context,
  row: PaymentRow,
  { payment }: RequestedPayment,
): Promise<AcceptedPayment> {
  const isInDoubt = await isPaymentInDoubt(deps.db, { sessionId: row.session_id, orderId: row.order_id });
  const taken = takenOf(row, payment, !isInDoubt);
  return { ...taken, receipt: { ...taken.receipt, txHash: row.paid_hash } };
}

/** The order is paid. Another payer may have sent that money, because the address was shown to several. */
async function proven(deps: X402Context, row: PaymentRow, asked: RequestedPayment): Promise<AcceptedPayment> {
  if (await isTransferred(deps, asked.expected)) {
    await markMoved(deps, row);
    return seen(deps, row, asked);
  }
  if (row.sent_status === 'sent') return takenOf(row, asked.payment, false);
  throw new Refusal('order_already_paid', 'by another payment');
}

/** Our transaction failed or was never sent. A third party may have submitted the authorization to the token. */
async function arrived(
  deps: X402Context,
  row: PaymentRow,
  asked: RequestedPayment,
): Promise<AcceptedPayment | undefined> {
  if (row.is_collecting) return takenOf(row, asked.payment, false);
  const arrival = await findArrival(deps, asked.expected);
  if (arrival === 'foreign') throw new Refusal('order_already_paid', 'by another payment');
  if (arrival === 'none') return undefined;
  await markMoved(deps, row);
  return takenOf(row, asked.payment, false);
}

async function markMoved({ db, clock }: X402Context, row: PaymentRow): Promise<void> {
  await db.query(setMoved, { orderId: row.order_id, payloadHash: row.payload_hash, updatedAt: clock.now() });
}

function takenOf(row: PaymentRow, { accepted, payload }: X402Payment, isSeen: boolean): AcceptedPayment {
  return {
    kind: 'taken',
    isSeen,
    receipt: {
      sessionId: row.session_id,
      status: isSeen ? row.session_status : 'settlement_pending',
      // Before the payment is seen: the transaction that brings the money.
      txHash: isSeen ? row.paid_hash : row.sent_hash,
      network: accepted.network,
      payer: getAddress(payload.authorization.from),
    },
  };
}

/** Database reads without news between two reads of the chain about one payment. */
const readsPerChainRead = 5;

/**
 * Waits until a payment is seen in a block or the time is over; undefined when no transaction of it is under way any
 * more.
 */
export async function waitUntilSeen(
  deps: X402Context,
  first: PaymentRow,
  asked: RequestedPayment,
): Promise<AcceptedPayment | undefined> {
  const end = deps.clock.monotonicMs() + deps.waitMs;
  let taken = await paymentState(deps, first, asked);
  let row = first;
  for (let reads = 1; taken?.isSeen === false && deps.clock.monotonicMs() < end; reads += 1) {
    const found = await deps.readPayment(row.order_id);
    if (found === undefined) throw new Error(`the payment for ${row.order_id} is missing`);
    const isNew = JSON.stringify(found) !== JSON.stringify(row);
    row = found;
    if (isNew || reads % readsPerChainRead === 0) taken = await paymentState(deps, row, asked);
  }
  return taken;
}
