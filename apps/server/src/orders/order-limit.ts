import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { OrderContext, OrderLimits, OrderRequest } from './context.ts';
import { liveOrders } from './order-limit.sql.ts';

export const defaultOrderLimits: OrderLimits = { ofNetwork: 10, inAll: 200 };

/**
 * How long an order without a payer's signature can be paid, in seconds. Anyone who knows a session's id can prepare one,
 * and the session cannot be cancelled while it can be paid.
 */
export const unsignedOrderSeconds = 3_600;

type NetworkRequest = Pick<OrderRequest, 'session' | 'payer' | 'token'> & { readonly network: string };

/**
 * Refuses (900101) another order of a session that has the most payable orders allowed. Returns the end of the payer's
 * own order in the token, in Unix seconds, if there is one: repeating it takes no room. The caller holds the session's
 * lock.
 */
export async function admitOrder(
  transaction: Transaction,
  { clock, orderLimits }: Pick<OrderContext, 'clock' | 'orderLimits'>,
  { session, payer, token, network }: NetworkRequest,
): Promise<number | undefined> {
  const now = unixSeconds(clock.now());
  const [live] = await transaction.query(liveOrders, {
    sessionId: session.sessionId,
    now,
    network,
    payer: payer.toLowerCase(),
    tokenId: token.tokenId,
  });
  if (live === undefined) throw new Error('a count gave no row');
  if (live.own_end !== null) return Number(live.own_end);
  if (orderLimits === undefined) return undefined;
  const { ofNetwork, inAll } = orderLimits;
  if (live.of_network >= ofNetwork || live.in_all >= inAll) {
    const retryAfterSeconds = Math.max(1, Number(live.first_end ?? 0n) - now + 1);
    const detail = `this session has ${inAll} payable orders at the most, and ${ofNetwork} from one network`;
    throw new Refusal('rate_limited', { detail, retryAfterSeconds });
  }
  return undefined;
}

/**
 * Admits an order without a payer's signature like `admitOrder`, and returns its end, in Unix seconds. Repeated in the
 * first half of its life, it keeps its end: the payer gets the same order and the same deposit address.
 */
export async function endOfUnsigned(
  transaction: Transaction,
  deps: Pick<OrderContext, 'clock' | 'orderLimits'>,
  request: NetworkRequest,
): Promise<number> {
  const ownEnd = await admitOrder(transaction, deps, request);
  const now = unixSeconds(deps.clock.now());
  const isKept = ownEnd !== undefined && ownEnd >= now + unsignedOrderSeconds / 2;
  const end = isKept ? ownEnd : now + unsignedOrderSeconds;
  return Math.min(end, unixSeconds(request.session.expirationTime));
}
