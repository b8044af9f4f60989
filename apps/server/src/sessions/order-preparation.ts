import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { OrderContext, OrderRequest } from '#orders/context.ts';
import { draftOrder, storeOrder } from '#orders/order.ts';
import { settlementModeFor } from '#orders/settlement-mode.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { SessionMoveContext } from './context.ts';
import { isHalted } from './progress.ts';
import { moveSession } from './session-move.ts';
import type { StoredSession } from './stored-session.ts';

/** Refuses a session that cannot be paid any more, with the code that says why. */
export function assertPayable(session: StoredSession, now: Date): void {
  if (session.status === 'cancelled') throw new Refusal('session_cancelled');
  if (session.status === 'expired') throw new Refusal('session_expired');
  if (session.status !== 'initialized') throw new Refusal('session_paid');
  if (session.initiateTx !== '') throw new Refusal('order_already_paid', `seen in ${session.initiateTx}`);
  if (session.expirationTime <= now) throw new Refusal('session_expired');
}

/**
 * Signs and stores an order that lets one payer pay the session with one token, exactly once. Identical requests give
 * the identical order. Sets signedOnce. Refuses what cannot be paid (1002xx, 100608, 100613, 900401), and another chain
 * than that of a direct order (100612).
 */
export async function prepareOrder(
  transaction: Transaction,
  deps: OrderContext & SessionMoveContext,
  request: OrderRequest & { readonly session: StoredSession },
): Promise<StoredOrder> {
  const { session, token } = request;
  assertPayable(session, deps.clock.now());
  const chain = deps.chains.byId(token.chainId);
  if (chain === undefined) throw new Refusal('payment_token_unsupported', token.tokenId);
  // The service does not read the blocks of a halted chain, so it would not see the payment.
  if (await isHalted(transaction, chain.chainId)) throw new Refusal('chain_unavailable', chain.name);
  const settlementMode = await settlementModeFor(transaction, deps, request);
  const drafted = draftOrder(deps, { ...request, settlementMode });
  const stored: StoredOrder = {
    ...drafted,
    signature: await deps.signer.signOrder(chain.chainId, chain.gateway, drafted.order),
  };
  await storeOrder(transaction, stored, deps.clock.now(), request);
  if (!session.signedOnce) await moveSession(transaction, deps, session, 'order_signed');
  return stored;
}
