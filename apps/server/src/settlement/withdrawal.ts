import type { Transaction } from '@florin/pg';
import type { StoredOrder } from '#orders/stored-order.ts';
import { closeLeg, requestLeg } from './leg.ts';
import { canonicalOutcome, lockSettleLeg, pendingCarrier } from './withdrawal.sql.ts';

/**
 * Why a payment cannot go back to its payer by the platform any more. settled: in a block, or nothing was ever held.
 * on_its_way: a stored transaction settles it. withdrawn: it goes back already. returned: it is back.
 */
export type WithdrawalObstacle = 'settled' | 'on_its_way' | 'withdrawn' | 'returned';

/**
 * Takes a paid order out of the settlement and asks for its refund instead. Undefined when done; otherwise nothing was
 * changed. The settle leg's row lock makes it one or the other: a worker that is about to record a settlement waits for
 * this transaction and then finds the leg closed, and a recorded settlement is seen here.
 */
export async function exchangeSettlementForRefund(
  transaction: Transaction,
  order: StoredOrder,
  at: Date,
): Promise<WithdrawalObstacle | undefined> {
  const [leg] = await transaction.query(lockSettleLeg, { orderId: order.orderId });
  // Only direct orders have no such leg once their payment is final.
  if (leg === undefined) return 'settled';
  const [outcome] = await transaction.query(canonicalOutcome, { orderId: order.orderId });
  if (outcome !== undefined) return outcome.event_name === 'Settled' ? 'settled' : 'returned';
  if (leg.status === 'done') return 'withdrawn';
  if (leg.status === 'sent') return 'on_its_way';
  const metaData = order.order.metaData.slice(2);
  const [carrier] = await transaction.query(pendingCarrier, {
    chainId: order.chainId,
    callDataPart: metaData,
  });
  if (carrier !== undefined) return 'on_its_way';
  await closeLeg(transaction, { orderId: order.orderId, name: 'settle', reason: 'withdrawn', at });
  await requestLeg(transaction, order, { name: 'refund', chainId: order.chainId, at });
  return undefined;
}
