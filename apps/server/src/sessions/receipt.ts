import type { Queryable } from '@florin/pg';
import type { SessionReceipt } from '@florin/protocol/checkout-order.ts';
import { findShownMerchant } from '#catalog/branding.ts';
import type { Chains } from '#chains/chain.ts';
import { findOrder } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import { sessionSalt } from './progress.sql.ts';
import { findLostPayments, isHalted } from './progress.ts';
import type { StoredSession } from './stored-session.ts';

/**
 * The receipt of a paid session: what was bought, the order and the salt, so that anyone can check it against the chain
 * (packages/kit/src/receipt.ts); undefined while nothing is paid, while a reorg has taken the payment back, or when its chain is
 * no longer configured. Also while its chain is halted: that may have lost the payment.
 */
export async function findReceipt(
  queryable: Queryable,
  chains: Chains,
  session: StoredSession,
): Promise<SessionReceipt | undefined> {
  if (session.receiptId === '' || session.paymentSucceededAt === undefined) return undefined;
  const stored = await findOrder(queryable, session.orderId);
  const [row] = await queryable.query(sessionSalt, { sessionId: session.sessionId });
  const chain = stored === undefined ? undefined : chains.byId(stored.chainId);
  if ((await findLostPayments(queryable, [session.orderId])).size > 0) return undefined;
  if (stored === undefined || row === undefined || chain === undefined) return undefined;
  if (await isHalted(queryable, chain.chainId)) return undefined;
  const names = session.receiptNames ?? (await findShownMerchant(queryable, session.merchantId));
  return {
    receiptId: session.receiptId,
    sessionId: session.sessionId,
    merchantName: names.merchantName,
    legalName: names.legalName,
    paidAt: session.paymentSucceededAt.toISOString(),
    payerEmail: session.payerEmail,
    sourceTx: session.initiateTx,
    targetTx: session.completeTx,
    chainId: stored.chainId.toString(),
    gateway: gatewayOf(stored, chain),
    orderId: stored.orderId,
    order: Object.fromEntries(Object.entries(stored.order).map(([name, value]) => [name, String(value)])),
    lineItems: [...session.items],
    salt: row.salt,
  };
}
