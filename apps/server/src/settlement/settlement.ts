import type { Transaction } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '#chains/chain.ts';
import { GasLimitExceeded, type SendPlan, type SentOutcome } from '#chains/sender/sender.ts';
import { findOrders } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { runRounds } from '#telemetry/rounds.ts';
import type { SettlementContext } from './context.ts';
import { delayAll, waitLonger } from './delay.ts';
import { chooseGroups, type Item } from './item.ts';
import { legsNotMined, legsOfTransaction, lockWaitingLegs, markSent, waitingLegs } from './leg.sql.ts';
import { delayLeg, type Leg, type LegName, parseLeg, putOffLeg, showLegNotMined } from './leg.ts';
import { findDeliveries } from './mint.ts';
import { choosePayouts, type OverCaps } from './payout-batch.ts';
import { bySharedTransfer, payoutCall, payoutVaultOf, refundCall, settleCall } from './settlement-call.ts';
import { showUnconfigured } from './unconfigured.ts';
import { rereadUntold } from './untold.ts';

export type { SettlementContext, SettlementSettings } from './context.ts';

const legNames: readonly LegName[] = ['settle', 'payout', 'mint', 'refund'];

/** Time between two looks for legs of chains that are not configured. */
const unconfiguredIntervalMs = 60_000;

/**
 * Settles until the signal aborts: one loop per chain and kind of leg, so that neither a chain that hangs nor payouts
 * that cannot be made delay anything else.
 */
export async function runSettlement(deps: SettlementContext, signal: AbortSignal): Promise<void> {
  const loops = deps.chains.all.flatMap((chain) =>
    legNames.map((name) => settleChain(deps, chain, name, signal)),
  );
  const { clock, log } = deps;
  const rounds = { clock, log, intervalMs: unconfiguredIntervalMs, failure: 'settlement.round_failed' };
  await Promise.all([...loops, runRounds(rounds, signal, () => showUnconfigured(deps))]);
}

/** What a loop remembers between rounds. Losing it costs a repeated line in the log. */
export interface RoundMemory {
  /** Legs that wait for cheaper gas have been told to the operator. */
  isGasAlarmed: boolean;
  /** Payouts that have been told to the operator. */
  readonly overCaps?: OverCaps;
}

async function settleChain(
  deps: SettlementContext,
  chain: Chain,
  name: LegName,
  signal: AbortSignal,
): Promise<void> {
  const memory: RoundMemory = { isGasAlarmed: false, overCaps: new Set() };
  while (!signal.aborted) {
    try {
      await settlementRound(deps, chain, name, memory);
    } catch (error) {
      // The node or the database is away; every leg stands in the database and is taken up in a later round.
      deps.log.error('settlement.round_failed', error, { chainId: chain.chainId, leg: name });
      await deps.clock.sleep(1_000, signal);
    }
    await deps.clock.sleep(deps.settings.windowMs, signal);
  }
}

/** One round of one kind of leg on one chain: sends those that are due. */
export async function settlementRound(
  deps: SettlementContext,
  chain: Chain,
  name: LegName,
  memory: RoundMemory = { isGasAlarmed: false },
): Promise<void> {
  await sendLegs(deps, chain, name, memory);
  await showNotMined(deps, chain, name);
  await rereadUntold(deps, chain, name);
}

/** Items that travel together, and how their call is made from any part of them. */
interface Batch<T extends Item = Item> {
  readonly name: LegName;
  readonly items: readonly T[];
  readonly to: Hex;
  readonly encode: (items: readonly T[]) => Hex;
}

/** Looked through for neighbours of the oldest, in batches. */
const candidateBatches = 4;

async function sendLegs(
  deps: SettlementContext,
  chain: Chain,
  name: LegName,
  memory: RoundMemory,
): Promise<void> {
  const limit = name === 'refund' ? 1 : deps.settings.batchSize * (name === 'settle' ? candidateBatches : 1);
  const rows = await deps.db.query(waitingLegs, {
    chainId: chain.chainId,
    leg: name,
    now: deps.clock.now(),
    limit,
  });
  if (rows.length === 0) return;
  const legs = rows.map(parseLeg);
  if (isGathering(deps, name, legs)) return;
  const orders = await findOrders(
    deps.db,
    legs.map((leg) => leg.orderId),
  );
  const ordersById = new Map<string, Item['order']>(orders.map((order) => [order.orderId, order]));
  const items = legs.flatMap((leg): Item[] => {
    const order = ordersById.get(leg.orderId);
    return order === undefined ? [] : [{ leg, order }];
  });
  const sending = { deps, chain, memory };
  if (name === 'settle') return sendSettlements(sending, items);
  if (name === 'payout') return sendPayouts(sending, items);
  if (name === 'mint') return sendMints(sending, items);
  return sendRefund(sending, items);
}

/** Whether the legs should wait for others to join them. What failed before has waited enough. */
function isGathering(deps: SettlementContext, name: LegName, legs: readonly Leg[]): boolean {
  const { windowSeconds = 0, batchSize } = deps.settings;
  if ((name !== 'settle' && name !== 'payout') || windowSeconds === 0) return false;
  if (legs.length >= batchSize || legs.some((leg) => leg.attempts > 0)) return false;
  const oldestMs = Math.min(...legs.map((leg) => leg.createdAt.getTime()));
  return deps.clock.now().getTime() - oldestMs < windowSeconds * 1_000;
}

/** What a round works with. */
interface Sending {
  readonly deps: SettlementContext;
  readonly chain: Chain;
  readonly memory: RoundMemory;
}

async function sendSettlements(sending: Sending, items: readonly Item[]): Promise<void> {
  const { deps, chain } = sending;
  const [oldest] = items;
  if (oldest === undefined) return;
  // Orders of a gateway that is configured no more are settled there; each call goes to one gateway.
  const to = gatewayOf(oldest.order, chain);
  const there = items.filter((item) => gatewayOf(item.order, chain) === to);
  const neighbours = ({ order: { order } }: Item) => `${order.token}${order.to}`;
  const chosen = chooseGroups(there, neighbours, deps.settings.batchSize);
  const encode = (part: readonly Item[]) => settleCall(part.map((item) => item.order).sort(bySharedTransfer));
  await sendBatch(sending, { name: 'settle', items: chosen, to, encode });
}

async function sendPayouts(sending: Sending, items: readonly Item[]): Promise<void> {
  const payouts = await choosePayouts(sending.deps, sending.chain, items, sending.memory.overCaps);
  const [first] = payouts;
  if (first === undefined) return;
  await sendBatch(sending, {
    name: 'payout',
    items: payouts,
    to: payoutVaultOf(first.order, sending.chain),
    encode: (part) =>
      payoutCall(
        part.map((item) => item.payout),
        part.map((item) => item.signature),
      ),
  });
}

async function sendMints(sending: Sending, items: readonly Item[]): Promise<void> {
  // Where CCTP has left the configuration, none is found, and the legs say that they wait.
  const deliveries = await findDeliveries(sending.deps, sending.chain, items);
  const to = sending.chain.cctp?.transmitter;
  if (to === undefined) return;
  for (const delivery of deliveries) {
    // Circle's transmitter takes one message a call.
    await sendBatch(sending, { name: 'mint', items: [delivery], to, encode: () => delivery.data });
  }
}

async function sendRefund(sending: Sending, items: readonly Item[]): Promise<void> {
  const [item] = items;
  if (item === undefined) return;
  const to = gatewayOf(item.order, sending.chain);
  await sendBatch(sending, { name: 'refund', items: [item], to, encode: () => refundCall(item.order) });
}

/**
 * Sends a batch in one transaction. One that needs too much gas, or would revert, is sent in halves: so one item that
 * cannot be settled holds up no other.
 */
async function sendBatch<T extends Item>(sending: Sending, batch: Batch<T>): Promise<void> {
  const { deps, chain, memory } = sending;
  const plan = await planBatch(deps, chain, batch);
  if (plan === 'too_large' || plan === 'would_revert') {
    const half = Math.ceil(batch.items.length / 2);
    if (batch.items.length > 1) {
      await sendBatch(sending, { ...batch, items: batch.items.slice(0, half) });
      return sendBatch(sending, { ...batch, items: batch.items.slice(half) });
    }
    return giveUp(deps, batch);
  }
  if (mustWaitForGas(deps, plan)) return noteGas(deps, chain, batch, memory);
  memory.isGasAlarmed = false;
  const recorded = await recordBatch(deps, batch, plan);
  if (recorded !== undefined) await deps.sender.broadcast(recorded.transactionId);
}

async function planBatch<T extends Item>(
  deps: SettlementContext,
  { chainId }: Chain,
  { name, items, to, encode }: Batch<T>,
): Promise<SendPlan | 'too_large' | 'would_revert'> {
  // A mint is a payout by other means: the sender knows no more of its purpose than that.
  const purpose = name === 'mint' ? 'payout' : name;
  try {
    const plan = await deps.sender.plan(chainId, { purpose, to, data: encode(items) });
    if (!('reverted' in plan)) return plan;
    deps.log.warn('settlement.would_revert', { chainId, leg: name, legs: items.length, data: plan.data });
    return 'would_revert';
  } catch (error) {
    if (!(error instanceof GasLimitExceeded)) throw error;
    deps.log.warn('settlement.too_large', { chainId, leg: name, legs: items.length, reason: error.message });
    return 'too_large';
  }
}

/** The legs wait for their next try. */
async function giveUp<T extends Item>(deps: SettlementContext, { name, items }: Batch<T>): Promise<void> {
  const legs = items.map(({ leg }) => leg);
  if (name !== 'mint') return delayAll(deps, legs, 'reverted');
  // Somebody else has delivered it, most likely, and the event that says so is not final yet.
  for (const leg of legs) await waitLonger(deps, leg, 'reverted');
}

const weiPerGwei = 1_000_000_000n;

function mustWaitForGas({ settings }: SettlementContext, plan: SendPlan): boolean {
  const { maxBaseFeeGwei } = settings;
  return maxBaseFeeGwei !== undefined && plan.baseFee > BigInt(maxBaseFeeGwei) * weiPerGwei;
}

/** Says once when legs have waited so long for cheaper gas that the merchant would be told of any other delay. */
function noteGas<T extends Item>(
  { clock, log, settings }: SettlementContext,
  { chainId }: Chain,
  { name, items }: Batch<T>,
  memory: RoundMemory,
): void {
  const oldestMs = Math.min(...items.map(({ leg }) => leg.createdAt.getTime()));
  const ageMs = clock.now().getTime() - oldestMs;
  if (memory.isGasAlarmed || ageMs < settings.notMinedAfterSeconds * 1_000) return;
  memory.isGasAlarmed = true;
  const error = new Error('settlements wait for the base fee to fall under settlement.maxBaseFeeGwei');
  log.error('settlement.gas_too_high', error, { chainId, leg: name, ageSeconds: Math.floor(ageMs / 1_000) });
}

async function recordBatch<T extends Item>(
  deps: SettlementContext,
  { name, items }: Batch<T>,
  plan: SendPlan,
) {
  return deps.db.transaction(async (transaction) => {
    const orderIds = items.map(({ leg }) => leg.orderId);
    // Sessions are locked before their legs everywhere, and in one order, so that no two transactions deadlock.
    const sessions = new Map<string, StoredSession>();
    for (const sessionId of new Set(items.map(({ leg }) => leg.sessionId).toSorted())) {
      const session = await lockSession(transaction, sessionId);
      if (session !== undefined) sessions.set(sessionId, session);
    }
    const locked = await transaction.query(lockWaitingLegs, { orderIds, leg: name });
    // Another worker has taken some of them: what was planned is not what would be sent.
    if (locked.length !== items.length) return undefined;
    const sent = await deps.sender.record(transaction, plan);
    await transaction.query(markSent, {
      orderIds,
      leg: name,
      transactionId: sent.transactionId,
      updatedAt: deps.clock.now(),
    });
    if (name === 'refund') return sent;
    for (const { leg } of items) {
      const session = sessions.get(leg.sessionId);
      if (session?.orderId === leg.orderId)
        await moveSession(transaction, deps, session, 'settlement_recorded');
    }
    return sent;
  });
}

function walletsOf({ wallet, otherWallets = [] }: SettlementContext): string[] {
  return [wallet, ...otherWallets].map((address) => address.toLowerCase());
}

async function showNotMined(deps: SettlementContext, chain: Chain, name: LegName): Promise<void> {
  const before = new Date(deps.clock.now().getTime() - deps.settings.notMinedAfterSeconds * 1000);
  const found = await deps.db.query(legsNotMined, {
    chainId: chain.chainId,
    leg: name,
    createdBefore: before,
    limit: deps.settings.batchSize,
    wallets: walletsOf(deps),
  });
  for (const row of found) {
    const leg = parseLeg(row);
    await deps.db.transaction((transaction) =>
      row.is_followed === true
        ? showLegNotMined(transaction, deps, leg)
        : // The settler's key was changed meanwhile. Sent anew by its successor: an order id is paid once, whoever asks.
          delayLeg(transaction, deps, leg, 'not_mined'),
    );
  }
}

/**
 * What became of a settlement transaction, told by the sender in its transaction. Success needs nothing: the events
 * speak, and where one does not come, blocks are read again (`untold.ts`). A failed or superseded transaction settles nothing
 * for ever, so its legs wait for a new one.
 */
export async function settlementOutcome(
  transaction: Transaction,
  deps: SessionMoveContext,
  outcome: SentOutcome,
): Promise<void> {
  if (outcome.status === 'succeeded') return;
  const reason = outcome.status === 'failed' ? 'reverted' : 'not_mined';
  for (const row of await transaction.query(legsOfTransaction, { transactionId: outcome.transactionId })) {
    const leg = parseLeg(row);
    // Whoever delivers a message first makes the others revert: what became of it, the chain's events tell.
    if (leg.name === 'mint') await putOffLeg(transaction, leg, deps.clock.now());
    else await delayLeg(transaction, deps, leg, reason);
  }
}
