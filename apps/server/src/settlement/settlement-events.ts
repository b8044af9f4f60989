import type { Transaction } from '@florin/pg';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import type { PendingReason } from '@florin/protocol/session.ts';
import { type Chain, isVault } from '#chains/chain.ts';
import type { ChainEvent, ChainEventName, ChainHandler } from '#contracts/event.ts';
import { raise } from '#exceptions/exception.ts';
import { book, type EntryKind, type Posting } from '#ledger/entry.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { PaymentContext } from '#payments/payment.ts';
import { mintPostings, payoutPostings, returnPostings, settlementPostings } from '#payments/postings.ts';
import { eachWithOrder, type LockedOrder } from '#sessions/event-order.ts';
import { findLostPayments } from '#sessions/progress.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { type FinalEvent, isArrival, isOwed, isWholeMint } from './arrival.ts';
import { paymentsFirst, reopenDropped } from './dropped-events.ts';
import { attemptOfTransaction, finalEventsOfOrder } from './leg.sql.ts';
import { closeLeg, delayLeg, findLeg, holdLeg, type Leg, requestLeg, showDelay } from './leg.ts';

/**
 * Turns settlement events into session moves, and books them once they are final. Runs after the payment handler in the
 * same transaction. Anyone can settle an order of the same chain after a day: the event counts, not its sender.
 */
export function settlementHandler(deps: PaymentContext): ChainHandler {
  return {
    async onBlock(transaction, _chain, _block, events) {
      const settlements = events.filter(isSettlement);
      await eachWithOrder(transaction, settlements, (_event, order) => seen(transaction, deps, order));
    },
    async onReorg(transaction, _chain, removed) {
      const settlements = removed.filter(isSettlement);
      await eachWithOrder(transaction, settlements, (_event, order) =>
        // The leg stays as it is: the sender rebroadcasts the same signed transaction.
        showDelay(transaction, deps, order, 'reorged'),
      );
    },
    async onFinal(transaction, chain, _block, events) {
      await eachWithOrder(transaction, events, (event, order) =>
        final(transaction, deps, chain, order, event),
      );
    },
    async onDropped(transaction, _chain, dropped) {
      await eachWithOrder(transaction, paymentsFirst(dropped), (event, order) =>
        reopenDropped(transaction, deps, order, event),
      );
    },
  };
}

/** Whether the event is a step of a settlement, and not of a payment, refund or reclaim. */
function isSettlement(event: ChainEvent): boolean {
  return event.name === 'Settled' || event.name === 'PaidOut' || event.name === 'Minted';
}

/** A settlement that was reorged out is in a block again. It is not told before a payment that was final is final again. */
async function seen(transaction: Transaction, deps: PaymentContext, order: StoredOrder): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  if (session?.orderId !== order.orderId || session.status !== 'settlement_pending') return;
  if ((await findLostPayments(transaction, [order.orderId])).size > 0) return;
  await moveSession(transaction, deps, session, 'settlement_recorded');
}

async function final(
  transaction: Transaction,
  deps: PaymentContext,
  chain: Chain,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  switch (event.name) {
    case 'Paid':
      return requestFirstLeg(transaction, deps, order);
    case 'Settled':
      return settled(transaction, deps, chain, order, event);
    case 'PaidOut':
      return paidOut(transaction, deps, chain, order, event);
    case 'Minted':
      return minted(transaction, deps, order, event);
    case 'Refunded':
    case 'Reclaimed':
      return returned(transaction, deps, chain, order, event);
    case 'SettleSkipped':
    case 'PayoutSkipped':
      return skipped(transaction, deps, order, event);
    case 'Rescued':
    case 'SettlementRefunded':
    case 'FeeAccrued':
      // Money that was never ours, or that is the merchant's or the operator's, settles nothing.
      return;
  }
}

/** The payment handler has just accepted the payment, or found that another order has paid the session. */
async function requestFirstLeg(
  transaction: Transaction,
  deps: PaymentContext,
  order: StoredOrder,
): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  if (session === undefined) return;
  const won = session.orderId === order.orderId;
  if (won && order.order.orderType === orderKinds.direct) return;
  await requestLeg(transaction, order, {
    name: won ? 'settle' : 'refund',
    chainId: order.chainId,
    // By our clock: a chain whose time runs ahead must not delay a leg that is due now.
    at: deps.clock.now(),
  });
}

async function settled(
  transaction: Transaction,
  deps: PaymentContext,
  chain: Chain,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  if (order.order.orderType !== orderKinds.direct) {
    const arrived = { chainName: chain.name, isIntoVault: isVault(chain, event.arguments['to']) };
    await bookEvent(transaction, 'settlement', order, event, settlementPostings(order, arrived));
  }
  const at = deps.clock.now();
  await closeLeg(transaction, { orderId: order.orderId, name: 'settle', at });
  // A day after the payment anyone can settle, so a payment whose refund is queued may be settled first.
  await closeLeg(transaction, { orderId: order.orderId, name: 'refund', reason: 'settled', at });
  const session = await lockSession(transaction, order.sessionId);
  if (session === undefined) return;
  const arrival = arrivalLegOf(order);
  // After a restored backup the chains are read in any order, so the arrival may be known already.
  const before = arrival === undefined ? [] : await finalEvents(transaction, order.orderId, [arrival.event]);
  const arrivedBefore = before.find((candidate) => isArrival(deps, { session, order, event: candidate }));
  const nextLeg = arrival === undefined || arrivedBefore !== undefined ? undefined : arrival.leg;
  if (session.orderId !== order.orderId) {
    // The merchant, or for a payout the vault, holds the payer's money, and a person must return it. Burnt money can only
    // be minted to the merchant first.
    if (nextLeg === 'mint') await requestArrival(transaction, order, nextLeg, at);
    await raise(transaction, deps, { session, order, kind: 'duplicate_settled', txHash: event.txHash });
    return;
  }
  if (nextLeg === undefined) return complete(transaction, deps, { session, order }, arrivedBefore ?? event);
  // The other vault owes the merchant only now: the payer's money is finally in the vault of its own chain. It owes only
  // for the order that paid the session.
  await requestArrival(transaction, order, nextLeg, at);
  if (before.some(({ name }) => name === 'PaidOut')) await holdPayout(transaction, deps, order.orderId);
}

async function requestArrival(
  transaction: Transaction,
  order: StoredOrder,
  name: 'payout' | 'mint',
  at: Date,
): Promise<void> {
  await requestLeg(transaction, order, { name, chainId: Number(order.order.targetChain), at });
}

/** The leg that brings the money to the merchant after the settlement, and its event; undefined if none is needed. */
export function arrivalLegOf({
  order,
  amounts,
}: Pick<StoredOrder, 'order' | 'amounts'>):
  | { leg: 'payout' | 'mint'; event: 'PaidOut' | 'Minted' }
  | undefined {
  if (order.orderType === orderKinds.vaultPayout) return { leg: 'payout', event: 'PaidOut' };
  // When the fee is the whole amount, the gateway burns nothing.
  if (order.orderType === orderKinds.cctp && amounts.netValue > 0n) return { leg: 'mint', event: 'Minted' };
  return undefined;
}

/** The final events of the order with one of these names. */
async function finalEvents(
  transaction: Transaction,
  orderId: string,
  names: readonly ChainEventName[],
): Promise<FinalEvent[]> {
  const rows = await transaction.query(finalEventsOfOrder, { orderId, eventNames: names });
  return rows.map((row) => ({
    chainId: Number(row.chain_id),
    name: row.event_name as ChainEventName,
    txHash: row.tx_hash as Hex,
    blockTime: row.block_time,
    arguments: row.arguments as ChainEvent['arguments'],
  }));
}

async function paidOut(
  transaction: Transaction,
  deps: PaymentContext,
  chain: Chain,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  // Locked before anything is written, so that the other chain's settled event sees this event or precedes it.
  const session = await lockSession(transaction, order.sessionId);
  const amount = event.arguments['amount'];
  if (session === undefined || amount === undefined)
    throw new Error(`the payout of ${order.orderId} has no session or amount`);
  const paid = { chainName: chain.name, asset: session.settlementToken, amount: BigInt(amount) };
  await bookEvent(transaction, 'payout', order, event, payoutPostings(paid));
  if (!isOwed(deps, { session, order, event })) {
    const error = new Error('a vault has paid for an order something else than what the order is owed');
    deps.log.error('settlement.payout_differs', error, { orderId: order.orderId, txHash: event.txHash });
    return holdPayout(transaction, deps, order.orderId);
  }
  await closeLeg(transaction, { orderId: order.orderId, name: 'payout', at: deps.clock.now() });
  if (session.orderId === order.orderId) await complete(transaction, deps, { session, order }, event);
}

/** Holds an order's payout until a person releases it: a vault has paid something else for the order. */
async function holdPayout(transaction: Transaction, deps: PaymentContext, orderId: string): Promise<void> {
  const leg = await findLeg(transaction, orderId, 'payout');
  if (leg === undefined || leg.status === 'done') return;
  await delayLeg(transaction, deps, leg, 'order_in_doubt');
  await holdLeg(transaction, deps, leg, 'order_in_doubt');
}

/**
 * Circle minted for an order. A watcher has checked that our route burnt it. This checks that it is all of the order's
 * money, for its merchant. Any other mint changes nothing: a person must look at it.
 */
async function minted(
  transaction: Transaction,
  deps: PaymentContext,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  if (!isWholeMint({ order, event })) {
    deps.log.warn('settlement.mint_differs', { orderId: order.orderId, txHash: event.txHash });
    return;
  }
  // The token's id names the chain, even when the chain is no longer configured.
  const [burnChain = ''] = order.tokenId.split('::');
  await bookEvent(transaction, 'mint', order, event, mintPostings(order, burnChain));
  await closeLeg(transaction, { orderId: order.orderId, name: 'mint', at: deps.clock.now() });
  if (session?.orderId === order.orderId) await complete(transaction, deps, { session, order }, event);
}

/** Completes a session whose row is locked. */
async function complete(
  transaction: Transaction,
  deps: PaymentContext,
  { session, order }: LockedOrder,
  event: Pick<ChainEvent, 'txHash' | 'blockTime'>,
): Promise<void> {
  const changes = { completeTx: event.txHash, settlementSucceededAt: event.blockTime };
  await moveSession(transaction, deps, session, 'settlement_final', changes, order);
}

async function returned(
  transaction: Transaction,
  deps: PaymentContext,
  chain: Chain,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  const kind = event.name === 'Refunded' ? 'refund' : 'reclaim';
  await bookEvent(transaction, kind, order, event, returnPostings(order, chain.name));
  await closeLeg(transaction, { orderId: order.orderId, name: 'refund', at: event.blockTime });
  await endReturned(transaction, deps, { session, order, event });
}

/** Ends the settlement of a payment that went back to its payer. */
async function endReturned(
  transaction: Transaction,
  deps: PaymentContext,
  of: {
    readonly session: StoredSession | undefined;
    readonly order: StoredOrder;
    readonly event: Pick<ChainEvent, 'name' | 'txHash' | 'blockTime'>;
  },
): Promise<void> {
  const { session, order, event } = of;
  const { orderId } = order;
  const reason = event.name === 'Refunded' ? 'refunded' : 'reclaimed';
  await closeLeg(transaction, { orderId, name: 'settle', reason, at: event.blockTime });
  if (session?.orderId !== orderId || (await findLeg(transaction, orderId, 'refund')) !== undefined) return;
  // No refund was requested here. Without an exception the merchant would wait for a settlement that can never come.
  await raise(transaction, deps, { session, order, kind: reason, txHash: event.txHash });
}

/** Reasons of IPayoutVault: token not allowed, three caps, refused transfer. Merchants see every cap as `vault_short`. */
const payoutReasons: Readonly<Record<string, PendingReason>> = {
  '4': 'token_not_served',
  '5': 'vault_short',
  '6': 'vault_short',
  '7': 'vault_short',
  '8': 'recipient_blocked',
};

/**
 * Reasons of IPaymentGateway for which a stranger's attempt says nothing about ours: the stranger is no settler, or the
 * order can only be reclaimed, which ours may be doing.
 */
const foreignReasons: readonly string[] = ['4', '6'];

/** Whether the transaction that carries the leg made the event: anyone can call settle and be refused. */
async function isOurs(transaction: Transaction, leg: Leg, event: ChainEvent): Promise<boolean> {
  const { transactionId } = leg;
  if (transactionId === undefined) return false;
  const attempts = await transaction.query(attemptOfTransaction, { txHash: event.txHash, transactionId });
  return attempts.length > 0;
}

/** The reason that the merchant sees for a skipped leg. */
export function pendingReasonOf(event: Pick<ChainEvent, 'name' | 'arguments'>): PendingReason {
  const reason = event.arguments['reason'] ?? '';
  if (event.name === 'SettleSkipped') return reason === '3' ? 'recipient_blocked' : 'reverted';
  return payoutReasons[reason] ?? 'reverted';
}

/** The final events that close a leg which was skipped. */
const ends: Readonly<Record<'settle' | 'payout', readonly ChainEventName[]>> = {
  settle: ['Settled', 'Refunded', 'Reclaimed'],
  payout: ['PaidOut'],
};

async function skipped(
  transaction: Transaction,
  deps: PaymentContext,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const name = event.name === 'SettleSkipped' ? 'settle' : 'payout';
  const leg = await findLeg(transaction, order.orderId, name);
  if (leg === undefined || leg.status !== 'sent') return;
  if (
    name === 'settle' &&
    foreignReasons.includes(event.arguments['reason'] ?? '') &&
    !(await isOurs(transaction, leg, event))
  )
    return;
  // A final event that came first closes the leg by itself. An event that is not final must not: it may vanish, and then
  // no transaction would ever settle the order.
  const [end] = await finalEvents(transaction, order.orderId, ends[name]);
  if (end?.name === 'Refunded' || end?.name === 'Reclaimed')
    return skippedReturned(transaction, deps, order, end);
  if (end !== undefined) return;
  await delayLeg(transaction, deps, leg, pendingReasonOf(event));
}

/**
 * The order that was skipped has gone back to its payer. If its return was read before its payment, which a second reading
 * found, no other event ends the session.
 */
async function skippedReturned(
  transaction: Transaction,
  deps: PaymentContext,
  order: StoredOrder,
  event: Pick<ChainEvent, 'name' | 'txHash' | 'blockTime'>,
): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  const changes = { refundedAmount: order.amounts.totalValue, returnTx: event.txHash };
  const moved =
    session?.orderId === order.orderId
      ? await moveSession(transaction, deps, session, 'payment_returned', changes)
      : undefined;
  await endReturned(transaction, deps, { session: moved ?? session, order, event });
}

async function bookEvent(
  transaction: Transaction,
  kind: EntryKind,
  order: StoredOrder,
  event: ChainEvent,
  postings: Posting[],
): Promise<void> {
  const { chainId, txHash, blockTime: at } = event;
  await book(transaction, { kind, orderId: order.orderId, chainId, txHash, at, postings });
}
