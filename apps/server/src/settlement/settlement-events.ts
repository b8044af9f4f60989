import type { Transaction } from '@florin/pg';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import type { PendingReason } from '@florin/protocol/session.ts';
import { type Chain, isVault } from '#chains/chain.ts';
import type { ChainEvent, ChainEventName, ChainHandler } from '#chains/event.ts';
import { raise } from '#exceptions/exception.ts';
import { book, type EntryKind, type Posting } from '#ledger/entry.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { PaymentContext } from '#payments/payment.ts';
import { mintPostings, payoutPostings, returnPostings, settlementPostings } from '#payments/postings.ts';
import { eachWithOrder, type LockedOrder } from '#sessions/event-order.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { takeBackFinal } from './dropped-events.ts';
import { attemptOfTransaction, finalEventOfOrder } from './leg.sql.ts';
import { closeLeg, delayLeg, findLeg, type Leg, requestLeg, showDelay } from './leg.ts';

/**
 * Turns settlement events into session moves and books them once they are final. Runs after the payment handler in the
 * same transaction. Anybody may settle an order of the same chain; what counts is the event, not who sent it.
 */
export function settlementHandler(deps: PaymentContext): ChainHandler {
  return {
    async onBlock(transaction, _chain, _block, events) {
      const settlements = events.filter(isSettlement);
      await eachWithOrder(transaction, settlements, (_event, order) => seen(transaction, deps, order));
    },
    async onReorg(transaction, _chain, removed) {
      const settlements = removed.filter(isSettlement);
      await eachWithOrder(transaction, settlements, (_event, order) => reorged(transaction, deps, order));
    },
    async onFinal(transaction, chain, _block, events) {
      await eachWithOrder(transaction, events, (event, order) =>
        final(transaction, deps, chain, order, event),
      );
    },
    async onDropped(transaction, _chain, dropped) {
      await eachWithOrder(transaction, dropped, (event, order) =>
        takeBackFinal(transaction, deps, order, event),
      );
    },
  };
}

/** Whether the event is a step of the settlement of a session (not of a payment, refund or reclaim). */
function isSettlement(event: ChainEvent): boolean {
  return event.name === 'Settled' || event.name === 'PaidOut' || event.name === 'Minted';
}

/** A settlement that had been reorged out is in a block again: the session is settling again. */
async function seen(transaction: Transaction, deps: PaymentContext, order: StoredOrder): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  if (session?.orderId !== order.orderId || session.status !== 'settlement_pending') return;
  await moveSession(transaction, deps, session, 'settlement_recorded');
}

async function reorged(transaction: Transaction, deps: PaymentContext, order: StoredOrder): Promise<void> {
  // The sender sends the same signed transaction again; the leg stays as it is.
  await showDelay(transaction, deps, order, 'reorged');
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
      // Money that was never ours, or is the merchant's: it settles nothing.
      return;
  }
}

/** The payment handler has just accepted the payment, or found that another one came first. */
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
    // Our clock, not the block's: a chain whose time runs ahead must not delay what is due now.
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
    const settled = { chainName: chain.name, isIntoVault: isVault(chain, event.arguments['to']) };
    await bookEvent(transaction, 'settlement', order, event, settlementPostings(order, settled));
  }
  const at = deps.clock.now();
  await closeLeg(transaction, { orderId: order.orderId, name: 'settle', at });
  // Settling is open to anybody, so a payment that was to go back may have been settled first.
  await closeLeg(transaction, { orderId: order.orderId, name: 'refund', reason: 'settled', at });
  const session = await lockSession(transaction, order.sessionId);
  if (session === undefined) return;
  const arrival = arrivalOf(order);
  // Read again after a restored backup, the chains come in any order: the arrival may stand there already.
  const arrivedBefore =
    arrival === undefined ? undefined : await finalEvent(transaction, order.orderId, [arrival.event]);
  const nextLeg = arrival === undefined || arrivedBefore !== undefined ? undefined : arrival.leg;
  if (session.orderId !== order.orderId) {
    // The merchant, or for a payout the vault, holds what is the payer's: people have to give it back. What was burnt is
    // nobody's until it is minted, and can only be minted to the merchant.
    if (nextLeg === 'mint') await requestArrival(transaction, order, nextLeg, at);
    await raise(transaction, deps, { session, order, kind: 'duplicate_settled', txHash: event.txHash });
    return;
  }
  if (nextLeg === undefined) return complete(transaction, deps, { session, order }, arrivedBefore ?? event);
  // Only now, with the payer's money finally in the vault of its own chain, does the other vault owe the merchant;
  // and only for the payment that won the session.
  await requestArrival(transaction, order, nextLeg, at);
}

async function requestArrival(
  transaction: Transaction,
  order: StoredOrder,
  name: 'payout' | 'mint',
  at: Date,
): Promise<void> {
  await requestLeg(transaction, order, { name, chainId: Number(order.order.targetChain), at });
}

/** What brings the money to the merchant after the settlement, and shows that it has; undefined when that itself does. */
function arrivalOf({
  order,
  amounts,
}: StoredOrder): { leg: 'payout' | 'mint'; event: 'PaidOut' | 'Minted' } | undefined {
  if (order.orderType === orderKinds.vaultPayout) return { leg: 'payout', event: 'PaidOut' };
  // A gateway burns nothing when the fee is all there is.
  if (order.orderType === orderKinds.cctp && amounts.netValue > 0n) return { leg: 'mint', event: 'Minted' };
  return undefined;
}

/** An event of the order of one of these names in a final block; undefined while there is none. */
async function finalEvent(
  transaction: Transaction,
  orderId: string,
  names: readonly ChainEventName[],
): Promise<Pick<ChainEvent, 'name' | 'txHash' | 'blockTime'> | undefined> {
  const [row] = await transaction.query(finalEventOfOrder, { orderId, eventNames: names });
  if (row === undefined) return undefined;
  return { name: row.event_name as ChainEventName, txHash: row.tx_hash as Hex, blockTime: row.block_time };
}

async function paidOut(
  transaction: Transaction,
  deps: PaymentContext,
  chain: Chain,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  // Locked before anything is written, so that the settled event of the other chain sees this one or comes before it.
  const session = await lockSession(transaction, order.sessionId);
  const amount = event.arguments['amount'];
  if (session === undefined || amount === undefined)
    throw new Error(`the payout of ${order.orderId} has no session or amount`);
  const paid = { chainName: chain.name, asset: session.settlementToken, amount: BigInt(amount) };
  await bookEvent(transaction, 'payout', order, event, payoutPostings(paid));
  await closeLeg(transaction, { orderId: order.orderId, name: 'payout', at: deps.clock.now() });
  if (session.orderId === order.orderId) await complete(transaction, deps, { session, order }, event);
}

/**
 * Circle minted for an order. A watcher has made sure that our route burnt it; that it is the order's own money, whole and
 * for its merchant, is looked at here: what differs moves nothing, for people have to look.
 */
async function minted(
  transaction: Transaction,
  deps: PaymentContext,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  const { amount, to, fee } = event.arguments;
  const { total, fee: ownFee, to: recipient, orderType, targetChain } = order.order;
  const isWhole = amount === (total - ownFee).toString() && fee === '0' && to === recipient;
  if (orderType !== orderKinds.cctp || targetChain !== BigInt(event.chainId) || !isWhole) {
    deps.log.warn('settlement.mint_differs', { orderId: order.orderId, txHash: event.txHash });
    return;
  }
  // By the chain's name in the token's id: it holds when the chain has left the configuration.
  const [burnChain = ''] = order.tokenId.split('::');
  await bookEvent(transaction, 'mint', order, event, mintPostings(order, burnChain));
  await closeLeg(transaction, { orderId: order.orderId, name: 'mint', at: deps.clock.now() });
  if (session?.orderId === order.orderId) await complete(transaction, deps, { session, order }, event);
}

/** Completes a session whose row is locked, by an event of the order that counts. */
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

/** Nothing is left to be settled of a payment that has gone back. */
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
  // Asked for by nobody here: without this event the merchant would wait for a settlement that cannot come any more.
  await raise(transaction, deps, { session, order, kind: reason, txHash: event.txHash });
}

/** By the numbers of IPayoutVault: token not allowed, its caps, refused transfer. The caps are all "short" to the merchant. */
const payoutReasons: Readonly<Record<string, PendingReason>> = {
  '4': 'token_paused',
  '5': 'vault_short',
  '6': 'vault_short',
  '7': 'vault_short',
  '8': 'recipient_blocked',
};

/** Reason of IPaymentGateway for a call by anybody else of an order for another chain or by CCTP. */
const notSettler = '4';

/** Whether the transaction that carries the leg made the event: everyone may call settle and be refused. */
async function isOurs(transaction: Transaction, leg: Leg, event: ChainEvent): Promise<boolean> {
  if (leg.transactionId === undefined) return false;
  return (
    (
      await transaction.query(attemptOfTransaction, {
        txHash: event.txHash,
        transactionId: leg.transactionId,
      })
    ).length > 0
  );
}

function pendingReasonOf(event: ChainEvent): PendingReason {
  const reason = event.arguments['reason'] ?? '';
  if (event.name === 'SettleSkipped') return reason === '3' ? 'recipient_blocked' : 'reverted';
  return payoutReasons[reason] ?? 'reverted';
}

/** What a leg that was skipped is over by. */
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
    event.arguments['reason'] === notSettler &&
    !(await isOurs(transaction, leg, event))
  )
    return;
  // Skipped because somebody was first, or is by now: that event closes the leg, and what it says of the session may be
  // said already. One that is not final may vanish, and the leg with it, for nothing would ever send it again.
  const end = await finalEvent(transaction, order.orderId, ends[name]);
  if (end?.name === 'Refunded' || end?.name === 'Reclaimed')
    return skippedReturned(transaction, deps, order, end);
  if (end !== undefined) return;
  await delayLeg(transaction, deps, leg, pendingReasonOf(event));
}

/**
 * What was to be settled has gone back. Where that was known before the payment itself, which only a second reading had told of,
 * nothing else says so any more.
 */
async function skippedReturned(
  transaction: Transaction,
  deps: PaymentContext,
  order: StoredOrder,
  event: Pick<ChainEvent, 'name' | 'txHash' | 'blockTime'>,
): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  const changes = { refundedAmount: order.amounts.totalValue };
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
  await book(transaction, {
    kind,
    orderId: order.orderId,
    chainId: event.chainId,
    txHash: event.txHash,
    at: event.blockTime,
    postings,
  });
}
