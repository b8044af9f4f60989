import type { Transaction } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import { orderKinds } from '@florin/protocol/order.ts';
import { uncountLinkPayments } from '#links/link-status.ts';
import type { Log } from '#telemetry/log.ts';
import type { SessionMoveContext } from './context.ts';
import { lapsedPayments } from './session.sql.ts';
import { moveSession } from './session-move.ts';
import { parseSession } from './session-row.ts';

/** The merchant gets the money of these orders by another transaction than that of the settlement. */
const arrivingApart = [orderKinds.vaultPayout, orderKinds.cctp];

/**
 * Expires sessions whose payment a reorg below finality took back, once no block can have it any more. They have no payment
 * then, as any that ended unpaid, but keep its order: should one more such reorg bring it back, it is settled. At most `limit`,
 * and as many as the limit of bytes allows. Returns how many.
 */
export async function endLostPayments(
  transaction: Transaction,
  deps: SessionMoveContext & { readonly log: Log },
  limit: number,
): Promise<number> {
  const rows = await transaction.query(lapsedPayments, { arrivingApart, limit });
  const lost = rows.map(parseSession);
  for (const session of lost) {
    await moveSession(transaction, deps, session, 'payment_lapsed', {
      ...{ payer: '', payerEmail: '', paidToken: '', receiptId: '', initiateTx: '', completeTx: '' },
      ...{ paymentSucceededAt: undefined, settlementSucceededAt: undefined, refundedAmount: microUsd(0n) },
    });
    const { sessionId, orderId, initiateTx: txHash } = session;
    deps.log.warn('payment.lost', { sessionId, orderId, txHash });
  }
  // After all sessions, as everywhere.
  const linkIds = lost.flatMap(({ businessId }) => (businessId === '' ? [] : [businessId]));
  await uncountLinkPayments(transaction, linkIds);
  return lost.length;
}
