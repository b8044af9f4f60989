import { maxMicroUsd, microUsd, toTokenAmount, unitsPerMicroUsd } from '@florin/protocol/money.ts';
import type { Hex, Payout } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain } from '#chains/chain.ts';
import { findSessions } from '#sessions/session.ts';
import type { SettlementDeps } from './context.ts';
import { delayAll } from './delay.ts';
import type { Item } from './item.ts';
import { oldestShortPayout, payoutsUnderWay } from './leg.sql.ts';
import { holdLeg, type Leg } from './leg.ts';
import { openOutflow } from './outflow.ts';
import {
  availableCall,
  balanceCall,
  capsCall,
  payoutOf,
  payoutVaultOf,
  perOrderCapOf,
} from './settlement-call.ts';

/** A payout that a vault can make now, with what the vault wants to see. */
export interface SignedPayout extends Item {
  readonly payout: Payout;
  readonly signature: Hex;
}

/**
 * Takes as many payouts, oldest leg first, as the vaults can pay now and the operator's caps let pass. The others wait and
 * show why; those over a cap of the operator's until a person releases them. All that are taken are paid by one vault.
 */
export async function choosePayouts(
  deps: SettlementDeps,
  chain: Chain,
  items: readonly Item[],
): Promise<readonly SignedPayout[]> {
  const sessions = await findSessions(
    deps.db,
    items.map(({ leg }) => leg.sessionId),
  );
  const limits = vaultLimits(deps, chain);
  const outflow = await openOutflow(deps, chain);
  const chosen: (Item & { payout: Payout; vault: Hex })[] = [];
  const short: Leg[] = [];
  const unknown: Leg[] = [];
  for (const item of items) {
    const token = deps.chains.token(sessions.get(item.leg.sessionId)?.settlementToken ?? '');
    if (token === undefined) {
      // Its token has left the configuration: it waits for it to come back, and holds up no other.
      deps.log.warn('settlement.token_not_configured', { chainId: chain.chainId, orderId: item.leg.orderId });
      unknown.push(item.leg);
      continue;
    }
    const vault = payoutVaultOf(item.order, chain);
    // One call goes to one vault; those of another are due in the next round.
    if (chosen[0] !== undefined && chosen[0].vault !== vault) continue;
    const payout = payoutOf(item.order, token);
    if (!(await limits.take(vault, token, payout))) {
      short.push(item.leg);
      continue;
    }
    const excess = item.leg.isReleased ? undefined : outflow.excessOf(item.order.amounts.netValue);
    if (excess !== undefined) {
      await hold(deps, chain, item.leg, excess);
      continue;
    }
    outflow.add(item.order.amounts.netValue);
    chosen.push({ ...item, payout, vault });
  }
  if (short.length > 0) await delayAll(deps, short, 'vault_short');
  if (unknown.length > 0) await delayAll(deps, unknown, 'token_paused');
  return Promise.all(
    chosen.map(async ({ vault, ...item }) => ({
      ...item,
      signature: await deps.signer.signPayout(chain.chainId, vault, item.payout),
    })),
  );
}

async function hold(deps: SettlementDeps, chain: Chain, leg: Leg, excess: string): Promise<void> {
  const isNew = await deps.db.transaction((transaction) => holdLeg(transaction, deps, leg, 'outflow_cap'));
  if (!isNew) return;
  const error = new Error(`a payout is over the ${excess} cap and waits for a release`);
  deps.log.error('settlement.held', error, { chainId: chain.chainId, orderId: leg.orderId, cap: excess });
}

/** What a vault can pay in one token: in all, and for one order. Units of the token. */
interface VaultLimit {
  left: bigint;
  readonly perOrder: bigint;
  /** The order that waits for more than is left, for which the rest is kept; empty when none does. */
  readonly keptFor: string;
}

function vaultLimits(deps: SettlementDeps, chain: Chain) {
  const limits = new Map<string, VaultLimit>();
  return {
    /** Whether the vault can make the payout besides those taken before; then it counts as taken. */
    async take(vault: Hex, token: Token, payout: Payout): Promise<boolean> {
      const key = `${vault} ${token.address}`;
      const limit = limits.get(key) ?? (await readVaultLimit(deps, chain, vault, token));
      limits.set(key, limit);
      const isKeptForOther = limit.keptFor !== '' && limit.keptFor !== payout.orderId;
      if (isKeptForOther || payout.amount > limit.left || payout.amount > limit.perOrder) return false;
      limit.left -= payout.amount;
      return true;
    },
  };
}

/** A payout that has waited for so long for more float is served before any other. */
const defaultKeepAfterSeconds = 1_800;

async function readVaultLimit(
  deps: SettlementDeps,
  chain: Chain,
  vault: Hex,
  token: Token,
): Promise<VaultLimit> {
  const ask = (data: Hex) => deps.read(chain.chainId, { to: vault, data });
  // Read first: a payout that is mined in between counts twice and delays another, rather than not at all.
  const [row] = await deps.db.query(payoutsUnderWay, [chain.chainId, token.tokenId]);
  const underWay = toTokenAmount(microUsd(row?.net_value ?? 0n), token.decimals);
  const available = BigInt(await ask(availableCall(token.address)));
  const perOrder = perOrderCapOf(await ask(capsCall(token.address)));
  const left = available - underWay;
  return { left, perOrder, keptFor: await orderToKeepFor(deps, chain, { vault, token }, { left, perOrder }) };
}

/**
 * The payout that gets what is left before all others. Only one that the vault's caps hold back, which time mends: where the
 * vault has too little, somebody has to fill it, and the others need not wait for that.
 */
async function orderToKeepFor(
  deps: SettlementDeps,
  chain: Chain,
  { vault, token }: { vault: Hex; token: Token },
  { left, perOrder }: { left: bigint; perOrder: bigint },
): Promise<string> {
  const waitedMs = (deps.settings.keepAfterSeconds ?? defaultKeepAfterSeconds) * 1_000;
  const since = new Date(deps.clock.now().getTime() - waitedMs);
  const cap = perOrder / unitsPerMicroUsd(token.decimals);
  const isBoundless = cap > maxMicroUsd;
  const values = [chain.chainId, token.tokenId, since, isBoundless ? maxMicroUsd : cap];
  const [oldest] = await deps.db.query(oldestShortPayout, values);
  if (oldest === undefined) return '';
  const wanted = toTokenAmount(microUsd(oldest.net_value), token.decimals);
  if (wanted <= left) return '';
  const held = await deps.read(chain.chainId, { to: token.address, data: balanceCall(vault) });
  return BigInt(held) >= wanted ? oldest.order_id : '';
}
