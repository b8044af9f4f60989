import type { MicroUsd } from '@florin/protocol/money.ts';
import type { PendingReason } from '@florin/protocol/session.ts';
import type { Transaction } from '#db/database.ts';
import type { Clock } from '#outside/clock.ts';
import type { Random } from '#outside/random.ts';
import { emit } from '#webhooks/outbox.ts';
import { orderById } from './order.sql.ts';
import { type SessionTrigger, sessionMove } from './session.machine.ts';
import { updateSession } from './session.sql.ts';
import { fullView, sessionViewJson } from './session-json.ts';
import { parseOrder, parseSession } from './session-row.ts';
import type { StoredOrder, StoredSession } from './stored-session.ts';

export interface SessionMoveDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly origin: string;
}

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
 * Makes one move of the session machine: updates the row under its old status and writes the move's event in the same
 * transaction. The caller holds the row lock. Undefined when the machine has no such move: nothing was changed.
 */
export async function moveSession(
  transaction: Transaction,
  deps: SessionMoveDeps,
  session: StoredSession,
  trigger: SessionTrigger,
  changes: SessionChanges = {},
): Promise<StoredSession | undefined> {
  const move = sessionMove(session, trigger);
  if (move === undefined) return undefined;
  const now = deps.clock.now();
  const next = { ...session, ...changes };
  const rows = await transaction.query(updateSession, [
    session.sessionId,
    session.status,
    move.to,
    session.signedOnce || trigger === 'order_signed',
    move.to === 'settlement_pending' ? next.pendingReason : '',
    next.payer,
    next.payerEmail,
    next.paidToken,
    next.receiptId,
    next.orderId,
    next.initiateTx,
    next.completeTx,
    next.paymentSucceededAt ?? null,
    next.settlementSucceededAt ?? null,
    now,
    next.refundedAmount,
  ]);
  const row = rows[0];
  if (row === undefined)
    throw new Error(`session ${session.sessionId} left ${session.status} without its lock`);
  const moved = parseSession(row);
  if (move.event !== undefined) {
    const view = { session: moved, order: await paidOrderOf(transaction, moved) };
    await emit(transaction, deps.random, [
      {
        merchantId: moved.merchantId,
        type: move.event,
        objectId: moved.sessionId,
        dataJson: sessionViewJson(view, fullView(deps.origin)),
        at: now,
      },
    ]);
  }
  return moved;
}

async function paidOrderOf(
  transaction: Transaction,
  session: StoredSession,
): Promise<StoredOrder | undefined> {
  if (session.orderId === '') return undefined;
  const rows = await transaction.query(orderById, [session.orderId]);
  return rows[0] === undefined ? undefined : parseOrder(rows[0]);
}
