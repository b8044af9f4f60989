import { orderKinds } from '@florin/protocol/order.ts';
import { type Chain, isVault } from '#chains/chain.ts';
import { valueMismatchOf } from '#orders/order-mismatch.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { channelIdOf } from '#sessions/session.ts';
import type { SessionState } from '#sessions/stored-session.ts';
import type { Item } from './batch.ts';
import type { SettlementContext } from './context.ts';
import { delayAll, postponeOrDelay } from './leg.ts';
import { isPaidElsewhere, readSettled } from './settled-orders.ts';
import { payoutVaultOf } from './settlement-call.ts';

/**
 * The items whose orders match the configuration and their ids. The others wait, and each attempt alarms the operator. They
 * go on once all is well again.
 */
export async function verifiedItems(
  deps: SettlementContext,
  items: readonly Item[],
  mismatchOf: (item: Item) => string | undefined | Promise<string | undefined>,
): Promise<readonly Item[]> {
  const mismatches = await Promise.all(items.map((item) => mismatchOf(item)));
  const refused = items.filter((_, index) => mismatches[index] !== undefined);
  for (const [index, { leg }] of items.entries()) {
    const mismatch = mismatches[index];
    if (mismatch === undefined) continue;
    const { chainId, orderId, name } = leg;
    const error = new Error(
      'an order in the database is not what the configuration and its id say, and is not sent',
    );
    deps.log.error('settlement.order_in_doubt', error, { chainId, orderId, leg: name, mismatch });
  }
  if (refused.length > 0)
    await delayAll(
      deps,
      refused.map(({ leg }) => leg),
      'order_in_doubt',
    );
  return items.filter((_, index) => mismatches[index] === undefined);
}

/**
 * The payouts whose orders match, and of which the gateway that took the payment says that they are settled.
 * A vault pays on our signature alone, so no row of the database suffices for one.
 */
export async function verifiedPayouts(
  deps: SettlementContext,
  chain: Chain,
  items: readonly Item[],
  sessions: SessionsById,
): Promise<readonly Item[]> {
  const matching = await verifiedItems(deps, items, (item) => payoutMismatchOf(deps, chain, item, sessions));
  const settled = await readSettled(
    deps,
    matching.map(({ order }) => order),
  );
  const isSettled = ({ order }: Item) => settled.get(order.orderId) === true;
  for (const { leg, order } of matching.filter((item) => !isSettled(item))) {
    // Usually nodes of the payment's chain that are behind, or do not answer.
    const fields = { chainId: order.chainId, orderId: leg.orderId, isRead: settled.has(order.orderId) };
    deps.log.warn('settlement.not_settled_yet', fields);
    await postponeOrDelay(deps, leg, 'order_in_doubt');
  }
  return matching.filter(isSettled);
}

/** The sessions of payouts, by id. */
export type SessionsById = ReadonlyMap<string, SessionState>;

async function payoutMismatchOf(
  deps: SettlementContext,
  chain: Chain,
  { leg, order: stored }: Item,
  sessions: SessionsById,
): Promise<string | undefined> {
  // The gateway itself pays the merchant of every other order that it settles.
  if (stored.order.orderType !== orderKinds.vaultPayout) return 'type';
  // The order's hash fixes its channel, and that the token of the payout.
  const session = sessions.get(leg.sessionId);
  if (session === undefined || !isOfItsChannel(session, stored)) return 'settlement_token';
  if (!isVault(chain, payoutVaultOf(stored, chain))) return 'vault';
  const source = deps.chains.byId(stored.chainId);
  // Each vault pays an order once: the vault of another chain would pay it again.
  if (source === undefined || stored.order.targetChain !== BigInt(chain.chainId)) return 'chain';
  const mismatch = valueMismatchOf(stored, source);
  if (mismatch !== undefined) return mismatch;
  return (await isPaidElsewhere(deps, chain, stored)) ? 'paid' : undefined;
}

function isOfItsChannel(session: SessionState, { order }: StoredOrder): boolean {
  const { accountId, accountVersion, settlementToken } = session;
  return channelIdOf(accountId, accountVersion, settlementToken) === order.channelId;
}
