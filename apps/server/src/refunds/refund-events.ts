import type { Transaction } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import type { ChainEvent, ChainHandler } from '#contracts/event.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { eachWithOrder } from '#sessions/event-order.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
import {
  completedAmount,
  lockCancelledRefund,
  lockOpenRefunds,
  lockRefundsOfReturn,
  lockRefundsToSign,
} from './refund.sql.ts';
import { moveRefund, recordReturn, returnedOf } from './refund.ts';
import { unitsPerMicroUsd } from './refund-call.ts';
import { endSigningByReturn, insertLostSigning, signedRefund } from './signing.sql.ts';

/**
 * Completes and fails refunds by final events, and updates `refundedAmount` of sessions. A final return that a reorg below
 * finality took back opens its refund again. Runs before the settlement handler, in the same transaction. Events that are not
 * final leave a refund as it is.
 */
export function refundHandler(deps: SessionMoveContext): ChainHandler {
  return {
    async onBlock() {},
    async onReorg() {},
    async onFinal(transaction, _chain, _block, events) {
      await finish(transaction, deps, events.filter(isOutcome));
      const refunded = events.filter((event) => event.name === 'SettlementRefunded');
      await eachWithOrder(transaction, refunded, (event, order) =>
        refundSettled(transaction, deps, order, event),
      );
    },
    async onDropped(transaction, _chain, dropped) {
      const returns = dropped.filter((event) => event.name === 'SettlementRefunded' || isReturn(event));
      await eachWithOrder(transaction, returns, (event, order) => reopen(transaction, deps, order, event));
    },
  };
}

/** Whether the event shows where an order's money went. An order has at most one such event. */
function isOutcome(event: ChainEvent): boolean {
  return event.name === 'Settled' || isReturn(event);
}

/** A reclaim by the payer has the same outcome as a refund. */
function isReturn(event: ChainEvent): boolean {
  return event.name === 'Refunded' || event.name === 'Reclaimed';
}

async function finish(
  transaction: Transaction,
  deps: SessionMoveContext,
  outcomes: readonly ChainEvent[],
): Promise<void> {
  if (outcomes.length === 0) return;
  const returns = outcomes.filter(isReturn);
  await eachWithOrder(transaction, returns, (event, order) =>
    showReturn(transaction, deps, order, event.txHash),
  );
  const byOrder = new Map<string, ChainEvent>(outcomes.map((event) => [event.orderId, event]));
  for (const row of await transaction.query(lockOpenRefunds, { orderIds: [...byOrder.keys()] })) {
    const event = byOrder.get(row.order_id);
    if (event === undefined) throw new Error(`refund ${row.refund_id} was not requested`);
    const trigger = isReturn(event) ? 'payment_returned' : 'payment_settled';
    await moveRefund(transaction, deps, row, { trigger, txHash: event.txHash });
  }
}

/** Shows on the session that its payment went back, unless another order paid the session. */
async function showReturn(
  transaction: Transaction,
  deps: SessionMoveContext,
  order: StoredOrder,
  returnTx: string,
): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  if (session?.orderId !== order.orderId) return;
  await moveSession(transaction, deps, session, 'payment_returned', {
    refundedAmount: order.amounts.totalValue,
    returnTx,
  });
}

/**
 * The merchant, or anyone else, returned part of a settled payment. Completes the refund of that amount that a wallet was
 * asked to sign, else the oldest one, a cancelled one only where no other waits, and fails refunds of more than is left.
 * What no refund meant is one of its own.
 * An event that comes back after a reorg below finality completes no second refund: all completed ones together never
 * exceed what went back.
 */
async function refundSettled(
  transaction: Transaction,
  deps: SessionMoveContext,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const units = unitsPerMicroUsd(order);
  const value = BigInt(event.arguments['value'] ?? '0');
  const refundedTotal = BigInt(event.arguments['refundedTotal'] ?? '0');
  const session = await lockSession(transaction, order.sessionId);
  if (session?.orderId === order.orderId) {
    const refundedAmount = microUsd(refundedTotal / units);
    const changes = { refundedAmount, returnTx: event.txHash };
    await moveSession(transaction, deps, session, 'settlement_refunded', changes);
  }
  const open = await transaction.query(lockRefundsToSign, { orderId: order.orderId });
  const [completed] = await transaction.query(completedAmount, { orderId: order.orderId });
  const isNew = (completed?.amount ?? 0n) * units + value <= refundedTotal;
  // Read after the locks: a start that held them has committed its row by now, which their statement would not see.
  const [signing] = await transaction.query(signedRefund, { orderId: order.orderId });
  const ofAmount = open.filter((row) => row.amount * units === value);
  const waiting = ofAmount.find((row) => row.refund_id === signing?.refund_id) ?? ofAmount[0];
  const of = { orderId: order.orderId, value, unitsPerMicroUsd: units };
  const meant = isNew ? (waiting ?? (await transaction.query(lockCancelledRefund, of))[0]) : undefined;
  const { orderId, txHash } = event;
  if (meant !== undefined)
    await moveRefund(transaction, deps, meant, { trigger: 'settlement_refunded', txHash });
  // What is no whole Micro-USD has no amount of a refund.
  else if (isNew && session !== undefined && value > 0n && value % units === 0n)
    await recordReturn(transaction, deps, { session, orderId, amount: microUsd(value / units), txHash });
  const left = order.order.total - order.added - refundedTotal;
  for (const row of open) {
    if (row !== meant && row.amount * units > left)
      await moveRefund(transaction, deps, row, { trigger: 'amount_exceeded', txHash: '' });
  }
  await transaction.query(endSigningByReturn, { orderId: order.orderId, amount: value / units });
}

/**
 * A reorg below finality took back a final return. The session shows what still stands. The refund waits for the platform or the
 * merchant's wallet again; the leg of the platform's is queued by the settlement handler. The lost transaction of a wallet may
 * come back by itself, and of two partial returns both reach the payer. So it counts as a signing that is open: no other wallet
 * is asked before a member says so.
 */
async function reopen(
  transaction: Transaction,
  deps: SessionMoveContext,
  order: StoredOrder,
  event: ChainEvent,
): Promise<void> {
  const { orderId, sessionId } = order;
  const { txHash } = event;
  const session = await lockSession(transaction, sessionId);
  if (session === undefined) return;
  const { merchantId } = session;
  const refundedAmount = (await returnedOf(transaction, [order]))(order);
  if (session.orderId === orderId && refundedAmount < session.refundedAmount)
    await moveSession(transaction, deps, session, 'return_lost', { refundedAmount }, order);
  const isOfWallet = event.name === 'SettlementRefunded';
  for (const row of await transaction.query(lockRefundsOfReturn, {
    merchantId,
    sessionId,
    orderId,
    txHash,
  })) {
    const ofWallet = row.cancelled_at === null ? 'settlement_return_lost' : 'cancelled_return_lost';
    await moveRefund(transaction, deps, row, {
      trigger: isOfWallet ? ofWallet : 'payment_return_lost',
      txHash,
    });
    if (isOfWallet)
      await transaction.query(insertLostSigning, {
        ...{ orderId, merchantId, txHash, refundId: row.refund_id, askedAt: event.blockTime },
        account: event.arguments['from'] ?? '',
      });
  }
}
