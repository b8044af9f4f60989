import type { Hex, Payout } from '@florin/protocol/order.ts';
import type { Chain } from '#chains/chain.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { Item } from './batch.ts';
import type { SettlementContext } from './context.ts';
import { delayAll, holdLeg, type Leg } from './leg.ts';
import { type ExceededCap, openOutflow } from './outflow.ts';
import { payoutOf, payoutVaultOf } from './settlement-call.ts';
import { readVaultLimit, takeFrom, type VaultLimit } from './vault-limit.ts';
import type { SessionsById } from './verified-items.ts';

/**
 * How long a vault pays on a signature. Long enough for a congested chain and for one whose time is ahead of ours; later the
 * leg gets a new one.
 */
const payoutSeconds = 2 * 86_400;

/** A payout that a vault can make now, with the signature that the vault checks. */
export interface SignedPayout extends Item {
  readonly payout: Payout;
  readonly signature: Hex;
}

/**
 * Takes as many payouts, oldest leg first, as one vault can pay now and the operator's caps allow. The others wait and
 * show why; a payout above a cap of the operator waits until a person releases it. `overCaps` holds the orders above
 * their vault's caps that the log has reported.
 */
export async function choosePayouts(
  deps: SettlementContext,
  chain: Chain,
  items: readonly Item[],
  { sessions, overCaps }: { readonly sessions: SessionsById; readonly overCaps: Set<string> },
): Promise<readonly SignedPayout[]> {
  const limits = new Map<string, VaultLimit | undefined>();
  const outflow = await openOutflow(deps, chain);
  const chosen: (Item & { payout: Payout; vault: Hex })[] = [];
  const short: Leg[] = [];
  const stopped: Leg[] = [];
  for (const item of items) {
    const token = deps.chains.token(sessions.get(item.leg.sessionId)?.settlementToken ?? '');
    if (token === undefined) {
      // It waits until its token is configured again, and holds up no other payout.
      deps.log.warn('settlement.token_not_configured', { chainId: chain.chainId, orderId: item.leg.orderId });
      stopped.push(item.leg);
      continue;
    }
    const vault = payoutVaultOf(item.order, chain);
    // One call goes to one vault; payouts of others are due in the next round.
    if (chosen[0] !== undefined && chosen[0].vault !== vault) continue;
    const excess = item.leg.isReleased ? undefined : outflow.excessOf(item.order.amounts.netValue);
    // Checked before a vault keeps anything for it: no later hour or day would let it pass.
    if (excess === 'order') {
      await hold(deps, chain, item.leg, excess);
      continue;
    }
    const payout = payoutOf(item.order, token, unixSeconds(deps.clock.now()) + payoutSeconds);
    const key = `${vault} ${token.address}`;
    if (!limits.has(key)) limits.set(key, await readVaultLimit(deps, chain, vault, token));
    const limit = limits.get(key);
    const taken = limit === undefined ? 'unreadable' : takeFrom(limit, payout);
    if (taken === 'over_caps') reportOverCaps(deps, chain, { vault, payout }, overCaps);
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
  if (stopped.length > 0) await delayAll(deps, stopped, 'token_not_served');
  return Promise.all(
    chosen.map(async ({ vault, ...item }) => ({
      ...item,
      signature: await deps.signer.signPayout(chain.chainId, vault, item.payout),
    })),
  );
}

async function hold(deps: SettlementContext, chain: Chain, leg: Leg, cap: ExceededCap): Promise<void> {
  const isNew = await deps.db.transaction((transaction) => holdLeg(transaction, deps, leg, 'outflow_cap'));
  if (!isNew) return;
  const error = new Error(`a payout exceeds the ${cap} cap and waits for a release`);
  deps.log.error('settlement.held', error, { chainId: chain.chainId, orderId: leg.orderId, cap });
}

/** Most reported orders that are kept; further ones are not reported. */
const maxOverCaps = 1_000;

/** Logs once that only a change of the vault's caps lets a payout pass. It continues by itself after that. */
function reportOverCaps(
  deps: SettlementContext,
  { chainId }: Chain,
  { vault, payout }: { readonly vault: Hex; readonly payout: Payout },
  overCaps: Set<string>,
): void {
  const { orderId, token } = payout;
  if (overCaps.has(orderId) || overCaps.size >= maxOverCaps) return;
  overCaps.add(orderId);
  const error = new Error("a payout exceeds its vault's caps and waits until they are raised");
  const amount = payout.amount.toString();
  deps.log.error('settlement.over_vault_caps', error, { chainId, orderId, vault, token, amount });
}
