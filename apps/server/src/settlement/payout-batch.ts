import { RpcError, revertDataOf } from '@florin/evm';
import { maxMicroUsd, microUsd, toTokenAmount, unitsPerMicroUsd } from '@florin/protocol/money.ts';
import type { Hex, Payout } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain } from '#chains/chain.ts';
import { findSessionStates } from '#sessions/session.ts';
import type { SettlementContext } from './context.ts';
import { delayAll } from './delay.ts';
import type { Item } from './item.ts';
import { oldestShortPayout, payoutsUnderWay } from './leg.sql.ts';
import { holdLeg, type Leg } from './leg.ts';
import { openOutflow } from './outflow.ts';
import {
  availableCall,
  balanceCall,
  capsCall,
  largestPayoutOf,
  payoutOf,
  payoutVaultOf,
  unnamedVaultOf,
} from './settlement-call.ts';

/** A payout that a vault can make now, with what the vault wants to see. */
export interface SignedPayout extends Item {
  readonly payout: Payout;
  readonly signature: Hex;
}

/** Payouts that the operator has been told of because they are over their vault's caps. Losing it costs repeated lines. */
export type OverCaps = Set<string>;

/**
 * Takes as many payouts, oldest leg first, as the vaults can pay now and the operator's caps let pass. The others wait and
 * show why; those over a cap of the operator's until a person releases them. All that are taken are paid by one vault.
 */
export async function choosePayouts(
  deps: SettlementContext,
  chain: Chain,
  items: readonly Item[],
  overCaps: OverCaps = new Set(),
): Promise<readonly SignedPayout[]> {
  const sessions = await findSessionStates(
    deps.db,
    items.map(({ leg }) => leg.sessionId),
  );
  const limits = vaultLimits(deps, chain);
  const outflow = await openOutflow(deps, chain);
  const chosen: (Item & { payout: Payout; vault: Hex })[] = [];
  const short: Leg[] = [];
  const stopped: Leg[] = [];
  for (const item of items) {
    const token = deps.chains.token(sessions.get(item.leg.sessionId)?.settlementToken ?? '');
    if (token === undefined) {
      // Its token has left the configuration: it waits for it to come back, and holds up no other.
      deps.log.warn('settlement.token_not_configured', { chainId: chain.chainId, orderId: item.leg.orderId });
      stopped.push(item.leg);
      continue;
    }
    const vault = payoutVaultOf(item.order, chain);
    // One call goes to one vault; those of another are due in the next round.
    if (chosen[0] !== undefined && chosen[0].vault !== vault) continue;
    const excess = item.leg.isReleased ? undefined : outflow.excessOf(item.order.amounts.netValue);
    // Before room is kept for it: a vault's next day would bring it no further.
    if (excess === 'order') {
      await hold(deps, chain, item.leg, excess);
      continue;
    }
    const payout = payoutOf(item.order, token);
    const taken = await limits.take(vault, token, payout);
    if (taken === 'over_caps') noteOverCaps(deps, chain, { vault, payout }, overCaps);
    else overCaps.delete(payout.orderId);
    if (taken !== 'taken') {
      (taken === 'unreadable' ? stopped : short).push(item.leg);
      continue;
    }
    if (excess !== undefined) {
      await hold(deps, chain, item.leg, excess);
      continue;
    }
    outflow.add(item.order.amounts.netValue);
    chosen.push({ ...item, payout, vault });
  }
  if (short.length > 0) await delayAll(deps, short, 'vault_short');
  if (stopped.length > 0) await delayAll(deps, stopped, 'token_paused');
  return Promise.all(
    chosen.map(async ({ vault, ...item }) => ({
      ...item,
      signature: await deps.signer.signPayout(chain.chainId, vault, item.payout),
    })),
  );
}

async function hold(deps: SettlementContext, chain: Chain, leg: Leg, excess: string): Promise<void> {
  const isNew = await deps.db.transaction((transaction) => holdLeg(transaction, deps, leg, 'outflow_cap'));
  if (!isNew) return;
  const error = new Error(`a payout is over the ${excess} cap and waits for a release`);
  deps.log.error('settlement.held', error, { chainId: chain.chainId, orderId: leg.orderId, cap: excess });
}

/** Most orders over their vault's caps that are remembered; of more than these nothing is told. */
const maxOverCaps = 1_000;

/** Time does not bring such a payout on: the operator is told once. It goes by itself when the vault's caps are raised. */
function noteOverCaps(
  deps: SettlementContext,
  { chainId }: Chain,
  { vault, payout }: { readonly vault: Hex; readonly payout: Payout },
  overCaps: OverCaps,
): void {
  const { orderId, token } = payout;
  if (overCaps.has(orderId) || overCaps.size >= maxOverCaps) return;
  overCaps.add(orderId);
  const error = new Error("a payout is over its vault's caps and waits until they are raised");
  const amount = payout.amount.toString();
  deps.log.error('settlement.over_vault_caps', error, { chainId, orderId, vault, token, amount });
}

/** What a vault can pay in one token: in all, and for one order. Units of the token. */
interface VaultLimit {
  left: bigint;
  /** No order of more goes under the vault's caps, however long it waits. */
  readonly largest: bigint;
  /** The order that waits for more than is left, for which the rest is kept; empty when none does. */
  readonly keptFor: string;
}

function vaultLimits(deps: SettlementContext, chain: Chain) {
  const limits = new Map<string, VaultLimit | undefined>();
  return {
    /** Whether the vault can make the payout besides those taken before, and why not; if so, it counts as taken. */
    async take(
      vault: Hex,
      token: Token,
      payout: Payout,
    ): Promise<'taken' | 'short' | 'over_caps' | 'unreadable'> {
      const key = `${vault} ${token.address}`;
      if (!limits.has(key)) limits.set(key, await readVaultLimit(deps, chain, vault, token));
      const limit = limits.get(key);
      if (limit === undefined) return 'unreadable';
      if (payout.amount > limit.largest) return 'over_caps';
      const isKeptForOther = limit.keptFor !== '' && limit.keptFor !== payout.orderId;
      if (isKeptForOther || payout.amount > limit.left) return 'short';
      limit.left -= payout.amount;
      return 'taken';
    },
  };
}

/** A payout that has waited for so long for more float is served before any other. */
const defaultKeepAfterSeconds = 1_800;

/** Undefined when the vault or the token refuses to tell: its payouts wait, and those of others go on. */
async function readVaultLimit(
  deps: SettlementContext,
  chain: Chain,
  vault: Hex,
  token: Token,
): Promise<VaultLimit | undefined> {
  // Read first: a payout that is mined in between counts twice and delays another, rather than not at all.
  const [row] = await deps.db.query(payoutsUnderWay, {
    chainId: chain.chainId,
    settlementToken: token.tokenId,
  });
  const underWay = toTokenAmount(microUsd(row?.net_value ?? 0n), token.decimals);
  const [available, caps, held] = await Promise.all([
    readUnlessRefused(deps, chain, vault, availableCall(token.address)),
    readUnlessRefused(deps, chain, vault, capsCall(token.address)),
    readUnlessRefused(deps, chain, token.address, balanceCall(vault)),
  ]);
  if (available === undefined || caps === undefined || held === undefined) return undefined;
  const [left, largest] = [BigInt(available) - underWay, largestPayoutOf(caps)];
  const payable = BigInt(held) < largest ? BigInt(held) : largest;
  return { left, largest, keptFor: await orderToKeepFor(deps, chain, { vault, token }, { left, payable }) };
}

/** What a contract answers; undefined when it reverts, or is none. */
async function readUnlessRefused(
  deps: SettlementContext,
  { chainId }: Chain,
  to: Hex,
  data: Hex,
): Promise<Hex | undefined> {
  try {
    const answer = await deps.read(chainId, { to, data });
    if (answer !== '0x') return answer;
  } catch (error) {
    if (!(error instanceof RpcError) || revertDataOf(error) === undefined) throw error;
  }
  deps.log.warn('settlement.contract_refuses', { chainId, contract: to, call: data.slice(0, 10) });
  return undefined;
}

/**
 * The payout that gets what is left before all others. Only one that waits for the next hour or day of the vault's caps
 * (`payable`: the most that the vault holds and its caps ever let go at once): for a larger one the vault has to be filled or
 * its caps raised, and the others need not wait for that.
 */
async function orderToKeepFor(
  deps: SettlementContext,
  chain: Chain,
  { vault, token }: { vault: Hex; token: Token },
  { left, payable }: { left: bigint; payable: bigint },
): Promise<string> {
  const waitedMs = (deps.settings.keepAfterSeconds ?? defaultKeepAfterSeconds) * 1_000;
  const since = new Date(deps.clock.now().getTime() - waitedMs);
  const most = payable / unitsPerMicroUsd(token.decimals);
  const isBoundless = most > maxMicroUsd;
  const [oldest] = await deps.db.query(oldestShortPayout, {
    chainId: chain.chainId,
    settlementToken: token.tokenId,
    createdBefore: since,
    mostNetValue: isBoundless ? maxMicroUsd : most,
    vault,
    standardVault: unnamedVaultOf(chain),
  });
  if (oldest === undefined) return '';
  return toTokenAmount(microUsd(oldest.net_value), token.decimals) <= left ? '' : oldest.order_id;
}
