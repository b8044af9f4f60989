import type { Transaction } from '@florin/pg';
import type { StoredOrder } from '#orders/stored-order.ts';
import { closeLeg, requestLeg } from './leg.ts';
import { canonicalOutcome, lockSettleLeg, pendingCarrier } from './withdrawal.sql.ts';

/**
 * Why the platform can no longer send a payment back. settled: its settlement is in a block, or it was paid directly.
 * on_its_way: a stored transaction settles it. withdrawn: its refund has begun. returned: the payer has it back.
 */
export type WithdrawalObstacle = 'settled' | 'on_its_way' | 'withdrawn' | 'returned';

/**
 * Replaces the settlement of a paid order by its refund. Returns undefined on success; an obstacle changes nothing. The
 * row lock of the settle leg excludes the other outcome. A worker that is about to record a settlement waits for this
 * transaction and then finds the leg closed; a settlement that is already recorded is seen here.
 */
export async function replaceSettlementByRefund(
  transaction: Transaction,
  order: StoredOrder,
  at: Date,
): Promise<WithdrawalObstacle | undefined> {
  const { orderId, chainId } = order;
  const [leg] = await transaction.query(lockSettleLeg, { orderId });
  // Every order with a final payment has this leg, except direct ones.
  if (leg === undefined) return 'settled';
  const [outcome] = await transaction.query(canonicalOutcome, { orderId });
  if (outcome !== undefined) return outcome.event_name === 'Settled' ? 'settled' : 'returned';
  if (leg.status === 'done') return 'withdrawn';
  if (leg.status === 'sent') return 'on_its_way';
  const callDataPart = order.order.metaData.slice(2);
  const [carrier] = await transaction.query(pendingCarrier, { chainId, callDataPart });
  if (carrier !== undefined) return 'on_its_way';
  await closeLeg(transaction, { orderId, name: 'settle', reason: 'withdrawn', at });
  await requestLeg(transaction, order, { name: 'refund', chainId, at });
  return undefined;
}
