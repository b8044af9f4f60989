import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { OrderContext, OrderLimits, OrderRequest } from './context.ts';
import { liveOrders } from './order-limit.sql.ts';

/** They apply to requests with the session's secret and to all others separately. */
export const defaultOrderLimits: OrderLimits = { ofNetwork: 10, inAll: 200 };

/**
 * How long an order without a payer's signature can be paid, in seconds. Anyone who knows a session's id can prepare one,
 * and the session cannot be cancelled while it can be paid.
 */
export const unsignedOrderSeconds = 3_600;

type NetworkRequest = Pick<OrderRequest, 'session' | 'payer' | 'token' | 'proof'> & {
  readonly network: string;
};

/**
 * Refuses (900101) another order of a session that has the most payable orders allowed. Orders that were asked for
 * with the session's secret count apart from all others, so that who has only its URL cannot use up the owner's share.
 * Returns the end of the payer's own order in the token, in Unix seconds, if there is one: repeating it takes no room,
 * unless it moves to the other count. The caller holds the session's lock.
 */
export async function admitOrder(
  transaction: Transaction,
  { clock, orderLimits }: Pick<OrderContext, 'clock' | 'orderLimits'>,
  { session, payer, token, network, proof }: NetworkRequest,
): Promise<number | undefined> {
  const now = unixSeconds(clock.now());
  const [live] = await transaction.query(liveOrders, {
    sessionId: session.sessionId,
    now,
    network,
    payer: payer.toLowerCase(),
    tokenId: token.tokenId,
    withSecret: proof === 'secret',
  });
  if (live === undefined) throw new Error('a count gave no row');
  const ownEnd = live.own_end === null ? undefined : Number(live.own_end);
  // A request without a proof changes nothing of an order that is there.
  const isRepeat = ownEnd !== undefined && (proof === undefined || live.own_counted > 0n);
  if (isRepeat || orderLimits === undefined) return ownEnd;
  const { ofNetwork, inAll } = orderLimits;
  const ends = [
    ...(live.of_network >= ofNetwork ? [Number(live.first_of_network ?? 0n)] : []),
    ...(live.in_all >= inAll ? [Number(live.first_end ?? 0n)] : []),
  ];
  if (ends.length > 0) {
    const retryAfterSeconds = Math.max(1, Math.max(...ends) - now + 1);
    const how = proof === 'secret' ? 'with' : 'without';
    const detail = `this session has ${inAll} payable orders that were asked for ${how} its secret at the most, and ${ofNetwork} from one network`;
    throw new Refusal('rate_limited', { detail, retryAfterSeconds });
  }
  return ownEnd;
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
