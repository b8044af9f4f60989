import { RpcError, RpcUnavailable } from '@florin/evm';
import { orderKinds } from '@florin/protocol/order.ts';
import { type Chain, contractsOf, isAmong, isVault } from '#chains/chain.ts';
import { valueDoubtOf } from '#orders/order-doubt.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { channelIdOf } from '#sessions/session.ts';
import type { SessionState } from '#sessions/stored-session.ts';
import type { Item } from './batch.ts';
import type { SettlementContext } from './context.ts';
import { delayLeg, postponeOrDelay } from './leg.ts';
import { isPaidOutCall, isSettledAnswer, payoutVaultOf, statusCall } from './settlement-call.ts';
import { readUnlessRefused } from './vault-limit.ts';

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
  const answers = await Promise.all(certain.map(({ order }) => isSettled(deps, order)));
  for (const [index, { leg, order }] of certain.entries()) {
    if (answers[index] === true) continue;
    // Usually a node of the payment's chain that is behind.
    const fields = { chainId: order.chainId, orderId: leg.orderId, isRead: answers[index] !== undefined };
    deps.log.warn('settlement.not_settled_yet', fields);
    await postponeOrDelay(deps, leg, 'order_in_doubt');
  }
  return certain.filter((_, index) => answers[index] === true);
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

/**
 * Whether another vault of the chain says that it has paid the order: a vault knows only what it has paid itself, and no
 * hash says which one pays. An address that answers like no vault has paid nothing.
 */
async function isPaidElsewhere(deps: SettlementContext, chain: Chain, stored: StoredOrder): Promise<boolean> {
  const own = payoutVaultOf(stored, chain);
  const others = contractsOf(chain).vaults.filter((vault) => !isAmong([own], vault));
  const answers = await Promise.all(
    others.map((vault) => readUnlessRefused(deps, chain, vault, isPaidOutCall(stored))),
  );
  return answers.some((answer) => answer !== undefined && BigInt(answer) === 1n);
}

function isOfItsChannel(session: SessionState, { order }: StoredOrder): boolean {
  const { accountId, accountVersion, settlementToken } = session;
  return channelIdOf(accountId, accountVersion, settlementToken) === order.channelId;
}

/** Whether the order's gateway says that it is settled; undefined when it cannot be read. */
async function isSettled(deps: SettlementContext, stored: StoredOrder): Promise<boolean | undefined> {
  const source = deps.chains.byId(stored.chainId);
  if (source === undefined) return undefined;
  try {
    const call = { to: gatewayOf(stored, source), data: statusCall(stored) };
    return isSettledAnswer(await deps.read(source.chainId, call));
  } catch (error) {
    if (error instanceof RpcError || error instanceof RpcUnavailable) return undefined;
    throw error;
  }
}
