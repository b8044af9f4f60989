import type { Transaction } from '@florin/pg';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { PendingReason } from '@florin/protocol/session.ts';
import { findOrder } from '#orders/order.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { emit, type OutboxEvent } from '#webhooks/outbox.ts';
import type { SessionMoveContext } from './context.ts';
import { type SessionTrigger, sessionMove } from './session.machine.ts';
import { updateSession } from './session.sql.ts';
import { sessionEventData } from './session-json.ts';
import type { StoredSession } from './stored-session.ts';

/** What a move may set besides the status. */
export interface SessionChanges {
  readonly payer?: string;
  readonly payerEmail?: string;
  readonly paidToken?: string;
  readonly receiptId?: string;
  readonly orderId?: string;
  readonly initiateTx?: string;
  readonly completeTx?: string;
  readonly paymentSucceededAt?: Date;
  readonly settlementSucceededAt?: Date;
  readonly pendingReason?: PendingReason;
  readonly refundedAmount?: MicroUsd;
}

/**
 * Makes one move of the session machine: updates the row and writes the move's event in the same transaction. The caller
 * holds the row's lock and has read the session under it. Throws where the row has another status all the same. Undefined
 * when the machine has no such move: nothing was changed. `order` is the one that pays the session, where the caller has it.
 */
export async function moveSession(
  transaction: Transaction,
  deps: SessionMoveContext,
  session: StoredSession,
  trigger: SessionTrigger,
  changes: SessionChanges = {},
  order?: StoredOrder,
): Promise<StoredSession | undefined> {
  const move = sessionMove(session, trigger);
  if (move === undefined) return undefined;
  const now = deps.clock.now();
  const moved = sessionAfter(session, trigger, move.to, changes);
  const told = move.event === undefined ? undefined : await eventOf(transaction, deps, moved, order);
  const rows = await transaction.query(updateSession, {
    sessionId: session.sessionId,
    fromStatus: session.status,
    status: moved.status,
    signedOnce: moved.signedOnce,
    pendingReason: moved.pendingReason,
    payer: moved.payer,
    payerEmail: moved.payerEmail,
    paidToken: moved.paidToken,
    receiptId: moved.receiptId,
    orderId: moved.orderId,
    initiateTx: moved.initiateTx,
    completeTx: moved.completeTx,
    paymentSucceededAt: moved.paymentSucceededAt ?? null,
    settlementSucceededAt: moved.settlementSucceededAt ?? null,
    updatedAt: now,
    refundedAmount: moved.refundedAmount,
    isLate: moved.isLate,
  });
  if (rows.length === 0)
    throw new Error(`session ${session.sessionId} left ${session.status} without its lock`);
  if (move.event !== undefined && told !== undefined)
    await emit(transaction, deps.random, [{ ...told, type: move.event, at: now }]);
  return moved;
}

/** The session as its row stands after a move. */
function sessionAfter(
  session: StoredSession,
  trigger: SessionTrigger,
  to: StoredSession['status'],
  changes: SessionChanges,
): StoredSession {
  const next = { ...session, ...changes, status: to };
  return {
    ...next,
    signedOnce: trigger === 'order_signed' || (session.signedOnce && trigger !== 'orders_lapsed'),
    pendingReason: to === 'settlement_pending' ? next.pendingReason : '',
    isLate: session.isLate || (session.status === 'expired' && to === 'paid'),
  };
}

async function eventOf(
  transaction: Transaction,
  { origin }: SessionMoveContext,
  session: StoredSession,
  known: StoredOrder | undefined,
): Promise<Pick<OutboxEvent, 'ownerId' | 'objectId' | 'dataJson' | 'shortDataJson'>> {
  const order = known?.orderId === session.orderId ? known : await paidOrderOf(transaction, session);
  return {
    ownerId: session.merchantId,
    objectId: session.sessionId,
    ...sessionEventData({ session, order }, origin),
  };
}

async function paidOrderOf(
  transaction: Transaction,
  session: StoredSession,
): Promise<StoredOrder | undefined> {
  if (session.orderId === '') return undefined;
  return findOrder(transaction, session.orderId);
}
