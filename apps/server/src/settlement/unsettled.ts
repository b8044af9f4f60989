import { raise } from '#exceptions/exception.ts';
import { findOrder } from '#orders/order.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { unixSeconds } from '#outside/clock.ts';
import { lockSession } from '#sessions/session.ts';
import type { SettlementContext } from './context.ts';
import { overdueSettlements } from './leg.sql.ts';
import { findLeg } from './leg.ts';

/** Whether the gateway still settles the order. From `reclaimAt` on it only returns the money to its payer. */
export function canBeSettled({ order }: Pick<StoredOrder, 'order'>, now: Date): boolean {
  return BigInt(unixSeconds(now)) < order.reclaimAt;
}

/** Most payments for which one round raises the alarm. */
const alarmedPayments = 200;

/**
 * Alarms operator and merchant once about each payment that is not settled although half of the time between `payBy` and
 * `reclaimAt` is over: at least a day remains. True when there may be more.
 */
export async function alarmUnsettled(deps: SettlementContext): Promise<boolean> {
  const { db, clock, log } = deps;
  const rows = await db.query(overdueSettlements, {
    nowSeconds: BigInt(unixSeconds(clock.now())),
    limit: alarmedPayments,
  });
  for (const { order_id: orderId, session_id: sessionId } of rows) {
    await db.transaction(async (transaction) => {
      const session = await lockSession(transaction, sessionId);
      const order = await findOrder(transaction, orderId);
      const leg = await findLeg(transaction, orderId, 'settle');
      if (session === undefined || order === undefined || leg === undefined || leg.status === 'done') return;
      const txHash = session.initiateTx;
      if (!(await raise(transaction, deps, { session, order, kind: 'unsettled', txHash }))) return;
      const error = new Error('a payment is not settled, and goes back to its payer when its time is over');
      const reclaimAt = new Date(Number(order.order.reclaimAt) * 1_000).toISOString();
      log.error('settlement.overdue', error, { chainId: order.chainId, orderId, reclaimAt });
    });
  }
  return rows.length === alarmedPayments;
}
