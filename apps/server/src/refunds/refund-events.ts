import type { Transaction } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import type { ChainEvent, ChainHandler } from '#chains/event.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { eachWithOrder } from '#sessions/event-order.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
import { lockOpenRefunds, lockRefundsToSign } from './refund.sql.ts';
import { moveRefund } from './refund.ts';
import { unitsPerMicroUsd } from './refund-call.ts';

/**
 * Says what became of refunds once the chain shows it finally, and keeps `refundedAmount` of sessions. Runs after the
 * settlement handler in the same transaction. Until then nothing is known for good: a refund stays pending.
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
  };
}

/** Where an order's money went: each order has one such event at most. */
function isOutcome(event: ChainEvent): boolean {
  return event.name === 'Settled' || isReturn(event);
}

/** The payer may have taken the money back before our refund came: the outcome is the same. */
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
  await eachWithOrder(transaction, returns, (_event, order) => showReturn(transaction, deps, order));
  const byOrder = new Map<string, ChainEvent>(outcomes.map((event) => [event.orderId, event]));
  for (const row of await transaction.query(lockOpenRefunds, { orderIds: [...byOrder.keys()] })) {
    const event = byOrder.get(row.order_id);
    if (event === undefined) throw new Error(`refund ${row.refund_id} was not asked for`);
    const trigger = isReturn(event) ? 'payment_returned' : 'payment_settled';
    await moveRefund(transaction, deps, row, { trigger, txHash: event.txHash });
  }
}

/** Whoever sent the money back: the session shows it, unless what went back is a payment that lost against another. */
async function showReturn(
  transaction: Transaction,
  deps: SessionMoveContext,
  order: StoredOrder,
): Promise<void> {
  const session = await lockSession(transaction, order.sessionId);
  if (session?.orderId !== order.orderId) return;
  await moveSession(transaction, deps, session, 'payment_returned', {
    refundedAmount: order.amounts.totalValue,
  });
}

/**
 * Somebody, who need not be the merchant, gave the payer some of a settled payment back. It is the refund of that amount
 * that has waited longest; what cannot go back any more beside it fails.
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
    await moveSession(transaction, deps, session, 'settlement_refunded', { refundedAmount });
  }
  const open = await transaction.query(lockRefundsToSign, { orderId: order.orderId });
  const meant = open.find((row) => row.amount * units === value);
  if (meant !== undefined)
    await moveRefund(transaction, deps, meant, { trigger: 'settlement_refunded', txHash: event.txHash });
  const left = order.order.total - refundedTotal;
  for (const row of open) {
    if (row !== meant && row.amount * units > left)
      await moveRefund(transaction, deps, row, { trigger: 'amount_exceeded', txHash: '' });
  }
}
