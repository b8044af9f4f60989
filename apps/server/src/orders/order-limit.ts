import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { OrderContext, OrderLimits, OrderRequest } from './context.ts';
import { liveOrders } from './order-limit.sql.ts';

export const defaultOrderLimits: OrderLimits = { ofNetwork: 10, inAll: 200 };

/**
 * How long an order can be paid that no payer has signed for, in seconds: anyone who knows a session's id can have one
 * prepared, and while it can be paid the session cannot be cancelled. Longer than the shortest session lives.
 */
export const unsignedOrderSeconds = 3_600;

type Asked = Pick<OrderRequest, 'session' | 'payer' | 'token'> & { readonly network: string };

/**
 * Refuses (900101) one more order of a session that has enough which can be paid. The payer's own order stands already: the
 * same again takes no room. The session is locked by the caller.
 */
export async function admitOrder(
  transaction: Transaction,
  deps: Pick<OrderContext, 'clock' | 'orderLimits'>,
  asked: Asked,
): Promise<void> {
  await readOwnEnd(transaction, deps, asked);
}

/**
 * The same for an order that no payer has signed for; gives when it ends, in Unix seconds. Asked again in the first half of
 * its life it ends as before: the payer gets the same order, with the same deposit address.
 */
export async function endOfUnsigned(
  transaction: Transaction,
  deps: Pick<OrderContext, 'clock' | 'orderLimits'>,
  asked: Asked,
): Promise<number> {
  const now = unixSeconds(deps.clock.now());
  const ownEnd = await readOwnEnd(transaction, deps, asked);
  const sessionEnd = unixSeconds(asked.session.expirationTime);
  if (ownEnd !== undefined && ownEnd >= now + unsignedOrderSeconds / 2) return Math.min(ownEnd, sessionEnd);
  return Math.min(now + unsignedOrderSeconds, sessionEnd);
}

async function readOwnEnd(
  transaction: Transaction,
  { clock, orderLimits }: Pick<OrderContext, 'clock' | 'orderLimits'>,
  { session, payer, token, network }: Asked,
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
