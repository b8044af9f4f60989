import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import { findOrder } from '#orders/order.ts';
import { lockRefund, seenReturn } from './refund.sql.ts';
import { findRefund, moveRefund, type RefundContext } from './refund.ts';
import { unitsPerMicroUsd } from './refund-call.ts';
import { findSigning } from './signing.ts';

/**
 * Cancels a refund that waits for the merchant's wallet; a repeat changes nothing. Refuses unknown refunds (100703), those
 * that a wallet was asked to sign (100710), and those that the chain shows or that wait for no wallet (100711). A
 * transaction that was signed elsewhere can still be mined: then its final event completes the cancelled refund.
 *
 * A member who names the signing (`despite`) cancels the refund though its wallet may answer yet. The signing stays open:
 * until then a wallet is asked for another part of the payment only by a member who names it again.
 */
export async function cancelRefund(
  transaction: Transaction,
  deps: RefundContext,
  request: { merchantId: string; refundId: string; despite?: string },
): Promise<Refund> {
  const { refundId, despite } = request;
  const [row] = await transaction.query(lockRefund, request);
  if (row === undefined) throw new Refusal('refund_not_found', refundId);
  if (row.status === 'cancelled') return findRefund(transaction, deps, request);
  if (row.status !== 'requires_signature')
    throw new Refusal('refund_not_cancellable', `its status is ${row.status}`);
  // A signing begins under the lock of this row: it is seen here, or finds the refund cancelled.
  const signing = await findSigning(transaction, { ...request, userId: '' });
  if (signing?.refundId === refundId && signing.signingId !== despite)
    throw new Refusal(
      'refund_being_signed',
      `${signing.memberName || 'a former member or another tool'} with ${signing.account}`,
    );
  const order = await findOrder(transaction, row.order_id);
  if (order === undefined) throw new Error(`refund ${refundId} has no order`);
  const value = String(row.amount * unitsPerMicroUsd(order));
  const [seen] = await transaction.query(seenReturn, { orderId: order.orderId, value });
  if (seen !== undefined)
    throw new Refusal('refund_not_cancellable', `${seen.tx_hash} returns it, and is not final yet`);
  await moveRefund(transaction, deps, row, { trigger: 'cancel', txHash: '' });
  return findRefund(transaction, deps, request);
}
