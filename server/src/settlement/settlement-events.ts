import { orderKinds } from '@florin/protocol/order.ts';
import type { PendingReason } from '@florin/protocol/session.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain, Chains } from '#chains/chain.ts';
import type { ChainEvent, ChainHandler } from '#chains/event.ts';
import type { Transaction } from '#db/database.ts';
import { book, type EntryKind, type Posting } from '#ledger/entry.ts';
import { tokenOf } from '#payments/payment.ts';
import { payoutPostings, returnPostings, settlementPostings } from '#payments/postings.ts';
import { findOrder } from '#sessions/order.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession, type SessionMoveDeps } from '#sessions/session-move.ts';
import type { StoredOrder } from '#sessions/stored-session.ts';
import { canonicalEvent } from './leg.sql.ts';
import { closeLeg, delayLeg, findLeg, type LegName, requestLeg, showDelay } from './leg.ts';

export interface SettlementEventDeps extends SessionMoveDeps {
  readonly chains: Chains;
}

/**
 * Turns settlement events into session moves and books them once they are final. Runs after the payment handler in the
 * same transaction. Anybody may settle an order; what counts is the event, not who sent it.
 */
export function settlementHandler(deps: SettlementEventDeps): ChainHandler {
  return {
    async onBlock(transaction, _chain, _block, events) {
      for (const event of events) await seen(transaction, deps, event);
    },
    async onReorg(transaction, _chain, removed) {
      for (const event of removed) await reorged(transaction, deps, event);
    },
    async onFinal(transaction, chain, _block, events) {
      for (const event of events) await final(transaction, deps, chain, event);
    },
  };
}

/** Whether the event is a step of the settlement of a session (not of a payment, refund or reclaim). */
function isSettlement(event: ChainEvent): boolean {
  return event.name === 'Settled' || event.name === 'PaidOut';
}

/** A settlement that had been reorged out is in a block again: the session is settling again. */
async function seen(transaction: Transaction, deps: SettlementEventDeps, event: ChainEvent): Promise<void> {
  if (!isSettlement(event)) return;
  const order = await findOrder(transaction, event.orderId);
  if (order === undefined) return;
  const session = await lockSession(transaction, order.sessionId);
  if (session?.orderId !== order.orderId || session.status !== 'settlement_pending') return;
  await moveSession(transaction, deps, session, 'settlement_recorded');
}

async function reorged(
  transaction: Transaction,
  deps: SettlementEventDeps,
  event: ChainEvent,
): Promise<void> {
  if (!isSettlement(event)) return;
  const order = await findOrder(transaction, event.orderId);
  if (order === undefined) return;
  const session = await lockSession(transaction, order.sessionId);
  if (session?.orderId !== order.orderId) return;
  // The sender sends the same signed transaction again; the leg stays as it is.
  await showDelay(transaction, deps, session.sessionId, 'reorged');
}

async function final(
  transaction: Transaction,
  deps: SettlementEventDeps,
  chain: Chain,
  event: ChainEvent,
): Promise<void> {
  const order = await findOrder(transaction, event.orderId);
  if (order === undefined) return;
  switch (event.name) {
    case 'Paid':
      return requestFirstLeg(transaction, deps, order);
    case 'Settled':
      return settled(transaction, deps, chain, order, event);
    case 'PaidOut':
      return paidOut(transaction, deps, order, event);
    case 'Refunded':
    case 'Reclaimed':
      return returned(transaction, chain, order, event);
    case 'SettleSkipped':
    case 'PayoutSkipped':
      return skipped(transaction, deps, order, event);
  }
}

/** The payment handler has just accepted the payment, or found that another one came first. */
async function requestFirstLeg(
  transaction: Transaction,
  deps: SettlementEventDeps,
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
  deps: SettlementEventDeps,
  chain: Chain,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const token = tokenOf(chain, order);
  if (order.order.orderType !== orderKinds.direct) {
    await bookEvent(transaction, 'settlement', order, event, settlementPostings(order, token));
  }
  const at = deps.clock.now();
  await closeLeg(transaction, { orderId: order.orderId, name: 'settle', at });
  // Settling is open to anybody, so a payment that was to go back may have been settled first.
  await closeLeg(transaction, { orderId: order.orderId, name: 'refund', reason: 'settled', at });
  if (order.order.orderType === orderKinds.vaultPayout) {
    // Only now, with the payer's money finally in the vault of its own chain, does the other vault owe the merchant;
    // and only for the payment that won the session.
    const session = await lockSession(transaction, order.sessionId);
    if (session?.orderId !== order.orderId) return;
    await requestLeg(transaction, order, { name: 'payout', chainId: Number(order.order.targetChain), at });
    return;
  }
  await complete(transaction, deps, order, event);
}

async function paidOut(
  transaction: Transaction,
  deps: SettlementEventDeps,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const token = await settlementTokenOf(transaction, deps, order);
  await bookEvent(transaction, 'payout', order, event, payoutPostings(order, token));
  await closeLeg(transaction, { orderId: order.orderId, name: 'payout', at: deps.clock.now() });
  await complete(transaction, deps, order, event);
}

async function settlementTokenOf(
  transaction: Transaction,
  deps: SettlementEventDeps,
  order: StoredOrder,
): Promise<Token> {
  const session = await lockSession(transaction, order.sessionId);
  const token = session === undefined ? undefined : deps.chains.token(session.settlementToken);
  if (token === undefined)
    throw new Error(`order ${order.orderId} settles in a token that is not configured`);
  return token;
}

async function complete(
  transaction: Transaction,
  deps: SettlementEventDeps,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  if (session?.orderId !== order.orderId) return;
  await moveSession(transaction, deps, session, 'settlement_final', {
    completeTx: event.txHash,
    settlementSucceededAt: event.blockTime,
  });
}

async function returned(
  transaction: Transaction,
  chain: Chain,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const kind = event.name === 'Refunded' ? 'refund' : 'reclaim';
  await bookEvent(transaction, kind, order, event, returnPostings(order, tokenOf(chain, order)));
  const reason = kind === 'refund' ? 'refunded' : 'reclaimed';
  await closeLeg(transaction, { orderId: order.orderId, name: 'refund', at: event.blockTime });
  await closeLeg(transaction, { orderId: order.orderId, name: 'settle', reason, at: event.blockTime });
}

/** IPaymentGateway and IPayoutVault number their reasons; the vault's caps and float are all "short" to the merchant. */
function pendingReasonOf(event: ChainEvent): PendingReason {
  const reason = event.arguments['reason'];
  if (event.name === 'SettleSkipped') return reason === '3' ? 'recipient_blocked' : 'reverted';
  return reason === '5' || reason === '6' || reason === '7' ? 'vault_short' : 'recipient_blocked';
}

async function skipped(
  transaction: Transaction,
  deps: SettlementEventDeps,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const name: LegName = event.name === 'SettleSkipped' ? 'settle' : 'payout';
  const leg = await findLeg(transaction, order.orderId, name);
  if (leg === undefined || leg.status !== 'sent') return;
  // Skipped because somebody was first: that event closes the leg when it is final.
  const done = await transaction.query(canonicalEvent, [
    order.orderId,
    name === 'settle' ? 'Settled' : 'PaidOut',
  ]);
  if (done.length > 0) return;
  await delayLeg(transaction, deps, leg, pendingReasonOf(event));
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
