import { orderKinds } from '@florin/protocol/order.ts';
import { type Chain, isVault } from '#chains/chain.ts';
import { valueDoubtOf } from '#orders/order-doubt.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { channelIdOf } from '#sessions/session.ts';
import type { SessionState } from '#sessions/stored-session.ts';
import type { Item } from './batch.ts';
import type { SettlementContext } from './context.ts';
import { delayLeg, postponeOrDelay } from './leg.ts';
import { isPaidElsewhere, readSettled } from './settled-orders.ts';
import { payoutVaultOf } from './settlement-call.ts';

/**
 * The items whose orders are beyond doubt. The others wait, and each attempt alarms the operator. They go on once nothing
 * is in doubt any more.
 */
export async function beyondDoubt(
  deps: SettlementContext,
  items: readonly Item[],
  doubtOf: (item: Item) => string | undefined | Promise<string | undefined>,
): Promise<readonly Item[]> {
  const certain: Item[] = [];
  const doubts = await Promise.all(items.map((item) => doubtOf(item)));
  for (const [index, item] of items.entries()) {
    const doubt = doubts[index];
    if (doubt === undefined) {
      certain.push(item);
      continue;
    }
    const { chainId, orderId, name } = item.leg;
    const error = new Error(
      'an order in the database is not what the configuration and its id say, and is not sent',
    );
    deps.log.error('settlement.order_in_doubt', error, { chainId, orderId, leg: name, doubt });
    await deps.db.transaction((transaction) => delayLeg(transaction, deps, item.leg, 'order_in_doubt'));
  }
  return certain;
}

/**
 * The items whose orders are beyond doubt, and of which the gateway that took the payment says now that they are settled.
 * A vault pays on our signature alone, so no row of the database suffices for one.
 */
export async function settledBeyondDoubt(
  deps: SettlementContext,
  chain: Chain,
  items: readonly Item[],
  sessions: SessionsById,
): Promise<readonly Item[]> {
  const certain = await beyondDoubt(deps, items, (item) => payoutDoubtOf(deps, chain, item, sessions));
  const settled = await readSettled(
    deps,
    certain.map(({ order }) => order),
  );
  const isSettled = ({ order }: Item) => settled.get(order.orderId) === true;
  for (const { leg, order } of certain.filter((item) => !isSettled(item))) {
    // Usually nodes of the payment's chain that are behind, or do not answer.
    const fields = { chainId: order.chainId, orderId: leg.orderId, isRead: settled.has(order.orderId) };
    deps.log.warn('settlement.not_settled_yet', fields);
    await postponeOrDelay(deps, leg, 'order_in_doubt');
  }
  return certain.filter(isSettled);
}

/** The sessions of payouts, by id. */
export type SessionsById = ReadonlyMap<string, SessionState>;

async function payoutDoubtOf(
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
  const doubt = valueDoubtOf(stored, source);
  if (doubt !== undefined) return doubt;
  return (await isPaidElsewhere(deps, chain, stored)) ? 'paid' : undefined;
}

function isOfItsChannel(session: SessionState, { order }: StoredOrder): boolean {
  const { accountId, accountVersion, settlementToken } = session;
  return channelIdOf(accountId, accountVersion, settlementToken) === order.channelId;
}
