import type { Transaction } from '@florin/pg';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { PendingReason } from '@florin/protocol/session.ts';
import { findOrder } from '#orders/order.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { emit } from '#webhooks/outbox.ts';
import type { SessionMoveContext } from './context.ts';
import { type SessionTrigger, sessionMove } from './session.machine.ts';
import { updateSession } from './session.sql.ts';
import { sessionEventData } from './session-json.ts';
import { receiptNamesOf } from './session-row.ts';
import type { StoredSession } from './stored-session.ts';

/** What a move can set besides the status. */
export interface SessionChanges {
  readonly payer?: string;
  readonly payerEmail?: string;
  readonly paidToken?: string;
  readonly receiptId?: string;
  readonly orderId?: string;
  readonly initiateTx?: string;
  readonly completeTx?: string;
  readonly paymentSucceededAt?: Date | undefined;
  readonly settlementSucceededAt?: Date | undefined;
  readonly pendingReason?: PendingReason;
  readonly refundedAmount?: MicroUsd;
  /** The transaction that gave money back; only the e-mail about it has it. */
  readonly returnTx?: string;
}

/**
 * Makes one move of the session machine: updates the row and writes the move's event in the same transaction. The caller
 * holds the row's lock and has read the session under it. Throws when the row has another status nevertheless. Undefined
 * when the machine has no such move; nothing is changed then. `order` pays the session; read when the caller lacks it.
 */
export async function moveSession(
  transaction: Transaction,
  deps: SessionMoveContext,
  session: StoredSession,
  trigger: SessionTrigger,
  { returnTx = '', ...changes }: SessionChanges = {},
  order?: StoredOrder,
): Promise<StoredSession | undefined> {
  const move = sessionMove(session, trigger);
  if (move === undefined) return undefined;
  const { to: status, event: type } = move;
  const { sessionId, merchantId } = session;
  const at = deps.clock.now();
  const changed = { ...session, ...changes, status };
  const next: Omit<StoredSession, 'receiptNames'> = {
    ...changed,
    signedOnce: trigger === 'order_signed' || (session.signedOnce && trigger !== 'orders_lapsed'),
    pendingReason: status === 'settlement_pending' ? changed.pendingReason : '',
    isLate: session.isLate || (session.status === 'expired' && status === 'paid'),
  };
  const [row] = await transaction.query(updateSession, {
    ...next,
    fromStatus: session.status,
    paymentSucceededAt: next.paymentSucceededAt ?? null,
    settlementSucceededAt: next.settlementSucceededAt ?? null,
    updatedAt: at,
  });
  if (row === undefined) throw new Error(`session ${sessionId} left ${session.status} without its lock`);
  const moved: StoredSession = { ...next, receiptNames: receiptNamesOf(row) };
  deps.onMove?.(moved);
  const isRefunded = moved.refundedAmount > session.refundedAmount;
  const isReturnLost = moved.refundedAmount < session.refundedAmount;
  const isTold = (isRefunded || isReturnLost) && deps.notify !== undefined;
  if (type === undefined && !isTold) return moved;
  const isPaid = moved.orderId !== '';
  const known = order?.orderId === moved.orderId ? order : undefined;
  const paidOrder = isPaid ? (known ?? (await findOrder(transaction, moved.orderId))) : undefined;
  const data = sessionEventData({ session: moved, order: paidOrder }, deps.origin);
  const fact = { at, ownerId: merchantId, objectId: sessionId, ...data };
  if (type !== undefined) await emit(transaction, deps, [{ ...fact, type }]);
  if (isTold) {
    const amount = Math.abs(Number(moved.refundedAmount - session.refundedAmount));
    const dataJson = JSON.stringify({ ...JSON.parse(fact.dataJson), refund: { amount, txHash: returnTx } });
    const told = isRefunded ? 'session.refunded' : 'session.refund_lost';
    await deps.notify?.(transaction, [{ ...fact, dataJson, type: told }]);
  }
  return moved;
}
