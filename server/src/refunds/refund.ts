import { Refusal } from '@florin/protocol/error.ts';
import type { EventType } from '@florin/protocol/event.ts';
import { newId } from '@florin/protocol/id.ts';
import { microUsd, microUsdToNumber } from '@florin/protocol/money.ts';
import type { Refund, RefundCreateBody, RefundStatus } from '@florin/protocol/refund.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import type { Queryable, Transaction } from '#db/database.ts';
import { findOrder } from '#sessions/order.ts';
import { findSession } from '#sessions/session.ts';
import type { SessionMoveDeps } from '#sessions/session-move.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { exchangeSettlementForRefund, type WithdrawalObstacle } from '#settlement/withdrawal.ts';
import { emit } from '#webhooks/outbox.ts';
import { type RefundTrigger, refundMove } from './refund.machine.ts';
import {
  insertRefund,
  type RefundRow,
  refundById,
  refundCount,
  refundPage,
  updateRefund,
} from './refund.sql.ts';

/** What operations on refunds need. */
export type RefundDeps = Pick<SessionMoveDeps, 'clock' | 'random'>;

/**
 * Asks for a payment to go back to its payer. Takes sessions whose payment waits for its settlement, and all of the
 * payment at once. Refuses unknown sessions (100201), more than was paid (100701), and what cannot go back, or not in
 * part (100702).
 */
export async function createRefund(
  transaction: Transaction,
  deps: RefundDeps,
  request: { merchantId: string; body: RefundCreateBody },
): Promise<Refund> {
  const { merchantId, body } = request;
  const session = await findSession(transaction, body.sessionId);
  if (session === undefined || session.merchantId !== merchantId)
    throw new Refusal('session_not_found', body.sessionId);
  const order = session.orderId === '' ? undefined : await findOrder(transaction, session.orderId);
  if (order === undefined) throw new Refusal('refund_not_possible', `nothing is paid: ${session.status}`);
  const paid = order.amounts.totalValue;
  const amount = body.amount === undefined ? paid : BigInt(body.amount);
  if (amount > paid) throw new Refusal('refund_exceeds', `${paid} Micro-USD were paid`);
  const now = deps.clock.now();
  const obstacle = await exchangeSettlementForRefund(transaction, order, now);
  if (obstacle !== undefined) throw new Refusal('refund_not_possible', obstacleText(obstacle, session));
  if (amount < paid) {
    const detail = `before the settlement only all of it can go back: leave amount out, or give ${paid}`;
    throw new Refusal('refund_not_possible', { param: 'amount', detail });
  }
  const [row] = await transaction.query(insertRefund, [
    newId('refund', deps.random.bytes),
    merchantId,
    session.sessionId,
    order.orderId,
    paid,
    body.reason ?? '',
    now,
  ]);
  if (row === undefined) throw new Error('the insert returned no refund');
  await emitRefund(transaction, deps, row, 'refund.created');
  return refundOf(row);
}

function obstacleText(obstacle: WithdrawalObstacle, session: StoredSession): string {
  switch (obstacle) {
    case 'settled':
      return session.status === 'completed'
        ? `settled: the money is in your wallet; send it back from there, to ${session.payer}`
        : 'settled: the money is on its way into your wallet; send it back from there';
    case 'on_its_way':
      return 'its settlement is on its way';
    case 'withdrawn':
      return 'a refund is under way';
    case 'returned':
      return 'the payment is back with its payer, or on its way there';
  }
}

/** One refund of the merchant, or 100703. */
export async function findRefund(
  queryable: Queryable,
  request: { merchantId: string; refundId: string },
): Promise<Refund> {
  const [row] = await queryable.query(refundById, [request.merchantId, request.refundId]);
  if (row === undefined) throw new Refusal('refund_not_found', request.refundId);
  return refundOf(row);
}

/** One page of the merchant's refunds, newest first, with the exact total. */
export async function listRefunds(
  queryable: Queryable,
  request: { merchantId: string; page: number; size: number },
): Promise<{ total: number; refunds: Refund[] }> {
  const { merchantId, page, size } = request;
  const [counts, rows] = await Promise.all([
    queryable.query(refundCount, [merchantId]),
    queryable.query(refundPage, [merchantId, size, (page - 1) * size]),
  ]);
  return { total: Number(counts[0]?.total ?? 0n), refunds: rows.map(refundOf) };
}

/** Makes one move of the refund machine, with its event. The caller holds the row lock. */
export async function moveRefund(
  transaction: Transaction,
  deps: RefundDeps,
  row: RefundRow,
  fact: { trigger: RefundTrigger; txHash: string },
): Promise<void> {
  const move = refundMove(statusOf(row), fact.trigger);
  if (move === undefined) return;
  const [moved] = await transaction.query(updateRefund, [
    row.refund_id,
    move.from,
    move.to,
    move.to === 'completed' ? fact.txHash : '',
    deps.clock.now(),
  ]);
  if (moved === undefined) throw new Error(`refund ${row.refund_id} left ${row.status} without its lock`);
  await emitRefund(transaction, deps, moved, move.event);
}

async function emitRefund(
  transaction: Transaction,
  deps: RefundDeps,
  row: RefundRow,
  type: Extract<EventType, `refund.${string}`>,
): Promise<void> {
  await emit(transaction, deps.random, [
    {
      merchantId: row.merchant_id,
      type,
      objectId: row.refund_id,
      dataJson: JSON.stringify({ refund: refundOf(row) }),
      at: row.updated_at,
    },
  ]);
}

/** The schema's check constraint is what makes the narrowing true. */
function statusOf(row: RefundRow): RefundStatus {
  return row.status as RefundStatus;
}

function refundOf(row: RefundRow): Refund {
  return {
    refundId: row.refund_id,
    sessionId: row.session_id,
    amount: microUsdToNumber(microUsd(row.amount)),
    status: statusOf(row),
    reason: row.reason,
    txHash: row.tx_hash,
    createAt: formatTimestamp(row.created_at),
    updateAt: formatTimestamp(row.updated_at),
  };
}
