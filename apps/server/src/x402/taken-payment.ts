import type { Database, Queryable } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { X402Payment, X402Receipt } from '@florin/protocol/x402.ts';
import { getAddress } from 'viem';
import type { Clock } from '#outside/clock.ts';
import { type ArrivalDeps, arrivalOf, type ExpectedTransfer, isTransferred } from './arrival.ts';
import type { Resource } from './offer.ts';
import { outcomeOf, type PaymentFacts } from './outcome.ts';
import { type PaymentRow, paymentByAddress, paymentsByOrders, setMoved } from './payment.sql.ts';
import { payloadHashOf } from './transfer-authorization.ts';

export interface TakenDeps extends ArrivalDeps {
  readonly db: Database;
  readonly clock: Clock;
  /** Looks a payment up for a request that waits for it; answered a moment later, together with others. */
  readonly look: (orderId: string) => Promise<PaymentRow | undefined>;
  /** How long a request waits for its payment to be seen in a block, in milliseconds. */
  readonly waitMs: number;
}

/** A payment that is sent, now or before, and whose order is paid once whatever is asked again. */
export interface TakenPayment {
  readonly kind: 'taken';
  readonly receipt: X402Receipt;
  readonly isSeen: boolean;
}

/** The payment that was taken for an address; undefined when none was. */
export async function findPaymentTo(
  queryable: Queryable,
  chainId: number,
  payTo: string,
): Promise<PaymentRow | undefined> {
  return (await queryable.query(paymentByAddress, [chainId, payTo.toLowerCase()]))[0];
}

/** Payments by order for requests that wait for them; those that are unknown are left out. */
export async function findPayments(
  queryable: Queryable,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, PaymentRow>> {
  const rows = await queryable.query(paymentsByOrders, [orderIds]);
  return new Map(rows.map((row) => [row.order_id, row]));
}

/** A request with its payment, and what its money is expected to do. */
export interface AskedPayment {
  readonly payment: X402Payment;
  readonly expected: ExpectedTransfer;
}

/** A signed payment of a resource, and the transfer that it allows. */
export function askedPayment(resource: Resource, payment: X402Payment, token: Token): AskedPayment {
  const { payload, accepted } = payment;
  const expected = {
    token,
    payer: getAddress(payload.authorization.from),
    payTo: getAddress(accepted.payTo),
    total: BigInt(accepted.amount),
    // An offer of a link has an address of its own; payers of one session may be shown the same one.
    isPrivate: resource.kind === 'link',
  };
  return { payment, expected };
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
 * What became of a payment that was taken, asked with another authorization or the same. undefined: nothing of it is on its
 * way, and it may be sent. Refuses who asks with another authorization (100613), and a payment whose session was paid
 * otherwise (100204) or has expired (100203).
 */
async function standOf(
  deps: TakenDeps,
  row: PaymentRow,
  asked: AskedPayment,
): Promise<TakenPayment | undefined> {
  const isSame = row.payload_hash === payloadHashOf(asked.payment);
  const outcome = outcomeOf(factsOf(row, asked.expected));
  if (outcome === 'unsent' && !row.is_moved && !isSame) return undefined;
  // The receipt is for the payer, who alone sends this authorization again.
  if (!isSame) throw new Refusal('order_already_paid', 'by another authorization');
  switch (outcome) {
    case 'seen':
      return takenOf(row, asked.payment, true);
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

/** The order is paid. Somebody else may have sent that money to the address, which other payers were shown, too. */
async function proven(deps: TakenDeps, row: PaymentRow, asked: AskedPayment): Promise<TakenPayment> {
  if (await isTransferred(deps, asked.expected)) {
    await markMoved(deps, row);
    return takenOf(row, asked.payment, true);
  }
  if (row.sent_status === 'sent') return takenOf(row, asked.payment, false);
  throw new Refusal('order_already_paid', 'by another payment');
}

/** Our transaction failed or was never sent: somebody else may have brought the authorization to the token. */
async function arrived(
  deps: TakenDeps,
  row: PaymentRow,
  asked: AskedPayment,
): Promise<TakenPayment | undefined> {
  if (row.is_collecting) return takenOf(row, asked.payment, false);
  const arrival = await arrivalOf(deps, asked.expected);
  if (arrival === 'foreign') throw new Refusal('order_already_paid', 'by another payment');
  if (arrival === 'none') return undefined;
  await markMoved(deps, row);
  return takenOf(row, asked.payment, false);
}

async function markMoved({ db, clock }: TakenDeps, row: PaymentRow): Promise<void> {
  await db.query(setMoved, [row.order_id, row.payload_hash, clock.now()]);
}

function takenOf(row: PaymentRow, { accepted, payload }: X402Payment, isSeen: boolean): TakenPayment {
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

/** Looks between two questions to the chain about a payment of which the database shows nothing new. */
const looksPerQuestion = 5;

/** Waits until a payment is seen in a block, or the time is over; undefined when nothing of it is on its way any more. */
export async function waitUntilSeen(
  deps: TakenDeps,
  first: PaymentRow,
  asked: AskedPayment,
): Promise<TakenPayment | undefined> {
  const end = deps.clock.monotonicMs() + deps.waitMs;
  let taken = await standOf(deps, first, asked);
  let row = first;
  for (let looks = 1; taken?.isSeen === false && deps.clock.monotonicMs() < end; looks += 1) {
    const found = await deps.look(row.order_id);
    if (found === undefined) throw new Error(`the payment for ${row.order_id} has vanished`);
    const isNew = JSON.stringify(found) !== JSON.stringify(row);
    row = found;
    if (isNew || looks % looksPerQuestion === 0) taken = await standOf(deps, row, asked);
  }
  return taken;
}
