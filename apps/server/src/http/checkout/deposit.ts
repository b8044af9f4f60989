import type { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { depositWayOf } from '@florin/protocol/checkout-order.ts';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import type { BodyOf } from '@florin/protocol/route.ts';
import { findReceivedOrder } from '#deposits/session-deposits.ts';
import { showDepositOf } from '#sessions/session.ts';
import type { CheckoutContext } from './context.ts';
import { assertClientCode, type PayerCaller, prepareForPayer, sessionOf } from './payment.ts';

/**
 * Prepares an order whose deposit address the payer's page shows; money that does not pay goes to `payer`.
 *
 * A caller with the session's secret sets the address for the session, so that all devices of the payer show the same. A
 * caller without it gets an address for its own page alone: whoever saw the link could otherwise put an address before
 * the payer's eyes whose refunds are not the payer's. The code that a phone scans has no secret, because others can
 * photograph the screen; so such a phone sees the payer's address, and sets none. Refuses like the preparation of an
 * order, and with 100612 where the service takes no transfers.
 */
export async function showDeposit(
  deps: CheckoutContext,
  body: BodyOf<(typeof checkoutApi)['routes']['showDeposit']>,
  caller: PayerCaller,
): Promise<{ orderId: string }> {
  const prepared = await prepareForPayer(deps, body, caller);
  if (depositWayOf(prepared) === undefined)
    throw new Refusal('method_not_available', { param: 'tokenId', detail: body.tokenId });
  const { orderId } = prepared;
  if (caller.clientCode !== undefined) await showDepositOf(deps.db, body.sessionId, orderId);
  return { orderId };
}

/** Makes the session's pages show no deposit address any more. What was sent to it still pays. Refuses with 100202. */
export async function hideDeposit(
  deps: CheckoutContext,
  sessionId: string,
  clientCode = '',
): Promise<Record<string, never>> {
  assertClientCode(await sessionOf(deps, sessionId), clientCode);
  await showDepositOf(deps.db, sessionId, '');
  return {};
}

/**
 * Makes the session's pages show the address with the given end again. Money has arrived at it, so that the payer can send
 * the rest there. The page knows only its end, because others who have the link need not learn the whole address. Refuses
 * with 100202, and with 400101 where no money waits at such an address for its rest.
 */
export async function showDepositAgain(
  deps: CheckoutContext,
  { sessionId, end }: BodyOf<(typeof checkoutApi)['routes']['showDepositAgain']>,
  clientCode = '',
): Promise<Record<string, never>> {
  assertClientCode(await sessionOf(deps, sessionId), clientCode);
  const orderId = await findReceivedOrder(deps.db, deps, { sessionId, end });
  if (orderId === undefined)
    throw fieldRefusal('end', 'is of no address that waits for the rest of a payment');
  await showDepositOf(deps.db, sessionId, orderId);
  return {};
}
