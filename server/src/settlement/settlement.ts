import { microUsd, toTokenAmount } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { PendingReason } from '@florin/protocol/session.ts';
import type { Token } from '@florin/protocol/token.ts';
import type { Chain, Chains } from '#chains/chain.ts';
import type { Sender, SentOutcome } from '#chains/sender/sender.ts';
import type { Database, Transaction } from '#db/database.ts';
import { findOrders } from '#sessions/order.ts';
import { findSessions, lockSession } from '#sessions/session.ts';
import { moveSession, type SessionMoveDeps } from '#sessions/session-move.ts';
import type { OrderSigner } from '#sessions/signer.ts';
import type { StoredOrder } from '#sessions/stored-session.ts';
import type { Log } from '#telemetry/log.ts';
import {
  legsNotMined,
  legsOfTransaction,
  lockWaitingLegs,
  markNotMined,
  markSent,
  payoutsUnderWay,
  waitingLegs,
} from './leg.sql.ts';
import { delayLeg, type Leg, type LegName, parseLeg, showDelay } from './leg.ts';
import {
  availableCall,
  bySharedTransfer,
  capsCall,
  payoutCall,
  payoutOf,
  perOrderCapOf,
  refundCall,
  settleCall,
} from './settlement-call.ts';

export interface SettlementSettings {
  /** Orders in one settle or payout transaction, 1 to 50. */
  readonly batchSize: number;
  /** Milliseconds between rounds: how long orders gather into one batch. */
  readonly windowMs: number;
  /** A settlement not in a block after this many seconds shows as settlement_pending. */
  readonly notMinedAfterSeconds: number;
}

export interface SettlementDeps extends SessionMoveDeps {
  readonly db: Database;
  readonly chains: Chains;
  readonly sender: Sender;
  readonly signer: OrderSigner;
  readonly log: Log;
  readonly settings: SettlementSettings;
  /** The sender's wallet. */
  readonly wallet: Hex;
  /** Reads a contract at the latest block. */
  readonly read: (chainId: number, call: { to: Hex; data: Hex }) => Promise<Hex>;
}

const legNames: readonly LegName[] = ['settle', 'payout', 'refund'];

/**
 * Settles until the signal aborts: one loop per chain and kind of leg, so that neither a chain that hangs nor payouts
 * that cannot be made delay anything else.
 */
export async function runSettlement(deps: SettlementDeps, signal: AbortSignal): Promise<void> {
  const loops = deps.chains.all.flatMap((chain) =>
    legNames.map((name) => settleChain(deps, chain, name, signal)),
  );
  await Promise.all(loops);
}

async function settleChain(
  deps: SettlementDeps,
  chain: Chain,
  name: LegName,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await settlementRound(deps, chain, name);
    } catch (error) {
      // The node or the database is away; every leg stands in the database and is taken up in a later round.
      deps.log.error('settlement.round_failed', error, { chainId: chain.chainId, leg: name });
      await deps.clock.sleep(1_000, signal);
    }
    await deps.clock.sleep(deps.settings.windowMs, signal);
  }
}

/** One round of one kind of leg on one chain: sends those that are due, in at most one transaction. */
export async function settlementRound(deps: SettlementDeps, chain: Chain, name: LegName): Promise<void> {
  await sendLegs(deps, chain, name);
  await showNotMined(deps, chain, name);
}

/** A transaction to be sent and the legs that it carries. */
interface Batch {
  readonly legs: readonly Leg[];
  readonly to: Hex;
  readonly data: Hex;
}

async function sendLegs(deps: SettlementDeps, chain: Chain, name: LegName): Promise<void> {
  const { batchSize } = deps.settings;
  const limit = name === 'refund' ? 1 : batchSize;
  const rows = await deps.db.query(waitingLegs, [chain.chainId, name, deps.clock.now(), limit]);
  if (rows.length === 0) return;
  const legs = rows.map(parseLeg);
  const found = await findOrders(
    deps.db,
    legs.map((leg) => leg.orderId),
  );
  const batch = await batchOf(deps, chain, name, legs, found.sort(bySharedTransfer));
  if (batch === undefined) return;
  const plan = await deps.sender.plan(chain.chainId, { purpose: name, to: batch.to, data: batch.data });
  if ('reverted' in plan) {
    deps.log.warn('settlement.would_revert', { chainId: chain.chainId, leg: name, data: plan.data });
    await delayAll(deps, batch.legs, 'reverted');
    return;
  }
  const recorded = await deps.db.transaction(async (transaction) => {
    const orderIds = batch.legs.map((leg) => leg.orderId);
    const locked = await transaction.query(lockWaitingLegs, [orderIds, name]);
    // Another worker has taken some of them: what was planned is not what would be sent.
    if (locked.length !== batch.legs.length) return undefined;
    const sent = await deps.sender.record(transaction, plan);
    await transaction.query(markSent, [orderIds, name, sent.transactionId, deps.clock.now()]);
    for (const leg of batch.legs) await showSettling(transaction, deps, leg);
    return sent;
  });
  if (recorded !== undefined) await deps.sender.broadcast(recorded.transactionId);
}

async function showSettling(transaction: Transaction, deps: SettlementDeps, leg: Leg): Promise<void> {
  if (leg.name === 'refund') return;
  const session = await lockSession(transaction, leg.sessionId);
  if (session?.orderId === leg.orderId) await moveSession(transaction, deps, session, 'settlement_recorded');
}

async function batchOf(
  deps: SettlementDeps,
  chain: Chain,
  name: LegName,
  legs: readonly Leg[],
  orders: readonly StoredOrder[],
): Promise<Batch | undefined> {
  if (name === 'settle') return { legs, to: chain.gateway, data: settleCall(orders) };
  if (name === 'payout') return payoutBatch(deps, chain, legs, orders);
  const order = orders[0];
  return order === undefined ? undefined : { legs, to: chain.gateway, data: refundCall(order) };
}

/** Takes as many payouts, oldest leg first, as the vault can pay now; the others wait and show why. */
async function payoutBatch(
  deps: SettlementDeps,
  chain: Chain,
  legs: readonly Leg[],
  orders: readonly StoredOrder[],
): Promise<Batch | undefined> {
  const limits = new Map<Hex, VaultLimit>();
  const chosen: { leg: Leg; payout: ReturnType<typeof payoutOf> }[] = [];
  const short: Leg[] = [];
  const unknown: Leg[] = [];
  const ordersById = new Map<string, StoredOrder>(orders.map((order) => [order.orderId, order]));
  const sessions = await findSessions(
    deps.db,
    legs.map((leg) => leg.sessionId),
  );
  for (const leg of legs) {
    const order = ordersById.get(leg.orderId);
    const token = deps.chains.token(sessions.get(leg.sessionId)?.settlementToken ?? '');
    if (order === undefined || token === undefined) {
      // Its token has left the configuration: it waits for it to come back, and holds up no other.
      deps.log.warn('settlement.token_not_configured', { chainId: chain.chainId, orderId: leg.orderId });
      unknown.push(leg);
      continue;
    }
    const payout = payoutOf(order, token);
    const limit = limits.get(token.address) ?? (await readVaultLimit(deps, chain, token));
    limits.set(token.address, limit);
    if (payout.amount > limit.left || payout.amount > limit.perOrder) {
      short.push(leg);
      continue;
    }
    limits.set(token.address, { ...limit, left: limit.left - payout.amount });
    chosen.push({ leg, payout });
  }
  if (short.length > 0) await delayAll(deps, short, 'vault_short');
  if (unknown.length > 0) await delayAll(deps, unknown, 'token_paused');
  if (chosen.length === 0) return undefined;
  const payouts = chosen.map((item) => item.payout);
  const signatures = await Promise.all(
    payouts.map((payout) => deps.signer.signPayout(chain.chainId, chain.vault, payout)),
  );
  return { legs: chosen.map((item) => item.leg), to: chain.vault, data: payoutCall(payouts, signatures) };
}

/** What a vault can pay in one token: in all, and for one order. Units of the token. */
interface VaultLimit {
  readonly left: bigint;
  readonly perOrder: bigint;
}

async function readVaultLimit(deps: SettlementDeps, chain: Chain, token: Token): Promise<VaultLimit> {
  const ask = (data: Hex) => deps.read(chain.chainId, { to: chain.vault, data });
  // Read first: a payout that is mined in between counts twice and delays another, rather than not at all.
  const [row] = await deps.db.query(payoutsUnderWay, [chain.chainId, token.tokenId]);
  const underWay = toTokenAmount(microUsd(row?.net_value ?? 0n), token.decimals);
  const available = BigInt(await ask(availableCall(token.address)));
  return { left: available - underWay, perOrder: perOrderCapOf(await ask(capsCall(token.address))) };
}

async function delayAll(deps: SettlementDeps, legs: readonly Leg[], reason: PendingReason): Promise<void> {
  await deps.db.transaction(async (transaction) => {
    for (const leg of legs) await delayLeg(transaction, deps, leg, reason);
  });
}

async function showNotMined(deps: SettlementDeps, chain: Chain, name: LegName): Promise<void> {
  const before = new Date(deps.clock.now().getTime() - deps.settings.notMinedAfterSeconds * 1000);
  const values = [chain.chainId, name, before, deps.settings.batchSize, deps.wallet.toLowerCase()];
  for (const row of await deps.db.query(legsNotMined, values)) {
    const leg = parseLeg(row);
    await deps.db.transaction((transaction) =>
      row.is_followed === true
        ? showLegNotMined(transaction, deps, leg)
        : // The settler's key was changed meanwhile. Sent anew by its successor: an order id is paid once, whoever asks.
          delayLeg(transaction, deps, leg, 'not_mined'),
    );
  }
}

/** Shows that the transaction of a sent leg is not mined; nothing when it does not carry the leg any more. */
export async function showLegNotMined(
  transaction: Transaction,
  deps: SessionMoveDeps,
  leg: Leg,
): Promise<void> {
  const values = [leg.orderId, leg.name, leg.transactionId ?? null, deps.clock.now()];
  const marked = await transaction.query(markNotMined, values);
  if (marked.length === 0 || leg.name === 'refund') return;
  await showDelay(transaction, deps, leg.sessionId, 'not_mined');
}

/**
 * What became of a settlement transaction, told by the sender in its transaction. Success needs nothing: the events
 * speak. A failed or superseded transaction settles nothing for ever, so its legs wait for a new one.
 */
export async function settlementOutcome(
  transaction: Transaction,
  deps: SessionMoveDeps,
  outcome: SentOutcome,
): Promise<void> {
  if (outcome.status === 'succeeded') return;
  const reason = outcome.status === 'failed' ? 'reverted' : 'not_mined';
  for (const row of await transaction.query(legsOfTransaction, [outcome.transactionId])) {
    await delayLeg(transaction, deps, parseLeg(row), reason);
  }
}
