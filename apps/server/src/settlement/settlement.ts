import { GasLimitExceeded, type SendPlan, type SentOutcome } from '@florin/evm';
import type { Transaction } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '#chains/chain.ts';
import type { SendPurpose } from '#contracts/purpose.ts';
import { findOrders } from '#orders/order.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import { mismatchOf } from '#orders/order-mismatch.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { findSessionStates, lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { chooseGroups, type Item, isGathering } from './batch.ts';
import type { SettlementContext, SettlementSettings } from './context.ts';
import { legsOfTransaction, lockWaitingLegs, markSent, waitingLegs } from './leg.sql.ts';
import { delayAll, delayLeg, type Leg, type LegName, parseLeg, postponeLeg, postponeOrDelay } from './leg.ts';
import { findDeliveries } from './mint.ts';
import { movingItems } from './paused-items.ts';
import { choosePayouts } from './payout-batch.ts';
import {
  bySharedTransfer,
  payoutCall,
  payoutVaultOf,
  reclaimCall,
  refundCall,
  settleCall,
} from './settlement-call.ts';
import { rereadUnreported, showNotMined, showUnconfigured } from './stuck-leg.ts';
import { alarmUnsettled, canBeSettled } from './unsettled.ts';
import { verifiedItems, verifiedPayouts } from './verified-items.ts';

const legNames: readonly LegName[] = ['settle', 'payout', 'mint', 'refund'];

/** Between two checks for legs of chains that are not configured, and for payments that wait too long. */
const checkIntervalMs = 60_000;

/**
 * Settles until the signal aborts, in one loop per chain and kind of leg. So neither a chain that hangs nor payouts that
 * cannot be made delay anything else, but for one wait: a round of payouts asks the chains of its payments first, each at most
 * for four seconds.
 */
export async function runSettlement(deps: SettlementContext, signal: AbortSignal): Promise<void> {
  const rounds = { clock: deps.clock, log: deps.log, failure: 'settlement.round_failed' };
  const loops = deps.chains.all.flatMap((chain) =>
    legNames.map((name) => {
      const state = newRoundState();
      const failureFields = { chainId: chain.chainId, leg: name };
      const every = { ...rounds, intervalMs: deps.settings.windowMs, failureFields };
      return runRounds(every, signal, () => settlementRound(deps, chain, name, state));
    }),
  );
  const checks = { ...rounds, intervalMs: checkIntervalMs };
  await Promise.all([
    ...loops,
    runRounds(checks, signal, () => showUnconfigured(deps)),
    runRounds(checks, signal, () => alarmUnsettled(deps)),
  ]);
}

/** What a loop has reported to the operator. Losing it repeats lines in the log. */
export interface RoundState {
  /** Whether the log says that legs wait for cheaper gas. */
  isGasReported: boolean;
  /** The ids of reported orders whose payout is over its vault's caps. */
  readonly overCaps: Set<string>;
}

export function newRoundState(): RoundState {
  return { isGasReported: false, overCaps: new Set() };
}

/** One round of one kind of leg on one chain: sends due legs, and reports those that are stuck. */
export async function settlementRound(
  deps: SettlementContext,
  chain: Chain,
  name: LegName,
  state: RoundState = newRoundState(),
): Promise<void> {
  await sendLegs({ deps, chain, state }, name);
  await showNotMined(deps, chain, name);
  await rereadUnreported(deps, chain, name);
}

/** Items for one transaction, and the encoder of its call for any part of them. */
interface Batch<T extends Item = Item> {
  readonly name: LegName;
  /** `refund` returns the money to its payer. */
  readonly purpose: SendPurpose;
  readonly items: readonly T[];
  readonly to: Hex;
  readonly encode: (items: readonly T[]) => Hex;
}

/** How many batches of legs are read to find those that share a transfer with the oldest. */
const candidateBatches = 4;

/** What the steps of a round share. */
interface Sending {
  readonly deps: SettlementContext;
  readonly chain: Chain;
  readonly state: RoundState;
}

async function sendLegs(sending: Sending, name: LegName): Promise<void> {
  const { deps, chain } = sending;
  const now = deps.clock.now();
  const limit = name === 'refund' ? 1 : deps.settings.batchSize * (name === 'settle' ? candidateBatches : 1);
  const rows = await deps.db.query(waitingLegs, { chainId: chain.chainId, leg: name, now, limit });
  if (rows.length === 0) return;
  const legs = rows.map(parseLeg);
  if (isGathering(legs, deps.settings, now)) return;
  const send = () => sendDue(sending, name, legs);
  const attributes = { 'florin.chain': chain.name, 'florin.leg': name };
  await (deps.traces === undefined ? send() : deps.traces.work('settle', attributes, send));
}

async function sendDue(sending: Sending, name: LegName, legs: readonly Leg[]): Promise<void> {
  const { deps, chain } = sending;
  const orders = await findOrders(
    deps.db,
    legs.map((leg) => leg.orderId),
  );
  const ordersById = new Map<string, Item['order']>(orders.map((order) => [order.orderId, order]));
  const items = legs.flatMap((leg): Item[] => {
    const order = ordersById.get(leg.orderId);
    return order === undefined ? [] : [{ leg, order }];
  });
  if (name === 'payout') return sendPayouts(sending, items);
  const moving = await movingItems(deps, chain, items, ({ order }) =>
    name === 'mint' ? chain.cctp?.tokenId : order.tokenId,
  );
  if (name === 'settle') return sendSettlements(sending, moving);
  if (name === 'mint') return sendMints(sending, moving);
  return sendRefund(sending, moving);
}

async function sendSettlements(sending: Sending, items: readonly Item[]): Promise<void> {
  const { deps, chain } = sending;
  const now = deps.clock.now();
  const late = items.filter(({ order }) => !canBeSettled(order, now));
  for (const item of late.slice(0, deps.settings.batchSize)) await sendReclaim(sending, item);
  const inTime = items.filter(({ order }) => canBeSettled(order, now));
  const open = await verifiedItems(deps, inTime, ({ order }) => mismatchOf(order, chain));
  const [oldest] = open;
  if (oldest === undefined) return;
  // An order is settled on the gateway that it was paid to. One call goes to one gateway.
  const to = gatewayOf(oldest.order, chain);
  const there = open.filter((item) => gatewayOf(item.order, chain) === to);
  const neighbours = ({ order: { order } }: Item) => `${order.token}${order.to}`;
  const chosen = chooseGroups(there, neighbours, deps.settings.batchSize);
  const encode = (part: readonly Item[]) => settleCall(part.map((item) => item.order).sort(bySharedTransfer));
  await sendBatch(sending, { name: 'settle', purpose: 'settle', items: chosen, to, encode });
}

/**
 * Returns a payment to its payer that the gateway no longer settles. Anyone can do so. Where our clock is ahead of the
 * chain's, the call would revert, and is tried again.
 */
async function sendReclaim(sending: Sending, item: Item): Promise<void> {
  const { deps, chain } = sending;
  deps.log.warn('settlement.reclaimed', { chainId: chain.chainId, orderId: item.leg.orderId });
  await sendReturn(sending, item, 'settle', reclaimCall);
}

/** Sends a payment back to its payer. Nothing leaves through `via`. */
async function sendReturn(
  sending: Sending,
  item: Item,
  name: 'settle' | 'refund',
  call: (order: Item['order']) => Hex,
): Promise<void> {
  const { deps, chain } = sending;
  const items = await verifiedItems(deps, [item], ({ order }) => {
    const mismatch = mismatchOf(order, chain);
    return mismatch === 'via' ? undefined : mismatch;
  });
  if (items.length === 0) return;
  const to = gatewayOf(item.order, chain);
  await sendBatch(sending, { name, purpose: 'refund', items, to, encode: () => call(item.order) });
}

async function sendPayouts(sending: Sending, items: readonly Item[]): Promise<void> {
  const { deps, chain } = sending;
  const sessions = await findSessionStates(
    deps.db,
    items.map(({ leg }) => leg.sessionId),
  );
  const verified = await verifiedPayouts(deps, chain, items, sessions);
  const moving = await movingItems(
    deps,
    chain,
    verified,
    ({ leg }) => sessions.get(leg.sessionId)?.settlementToken,
  );
  const payouts = await choosePayouts(deps, chain, moving, { sessions, overCaps: sending.state.overCaps });
  const [first] = payouts;
  if (first === undefined) return;
  await sendBatch(sending, {
    name: 'payout',
    purpose: 'payout',
    items: payouts,
    to: payoutVaultOf(first.order, chain),
    encode: (part) =>
      payoutCall(
        part.map((item) => item.payout),
        part.map((item) => item.signature),
      ),
  });
}

async function sendMints(sending: Sending, items: readonly Item[]): Promise<void> {
  // Without CCTP in the configuration there are none, and the legs show that they wait.
  const deliveries = await findDeliveries(sending.deps, sending.chain, items);
  const to = sending.chain.cctp?.transmitter;
  if (to === undefined) return;
  for (const delivery of deliveries) {
    // Circle's transmitter takes one message per call.
    const encode = () => delivery.data;
    // The sender has no purpose of its own for mints, which are payouts by other means.
    await sendBatch(sending, { name: 'mint', purpose: 'payout', items: [delivery], to, encode });
  }
}

async function sendRefund(sending: Sending, items: readonly Item[]): Promise<void> {
  const [item] = items;
  if (item !== undefined) await sendReturn(sending, item, 'refund', refundCall);
}

/**
 * Sends a batch in one transaction. A batch that needs too much gas or would revert is halved, so that one item that
 * cannot be settled holds up no other.
 */
async function sendBatch<T extends Item>(sending: Sending, batch: Batch<T>): Promise<void> {
  const { deps, chain, state } = sending;
  const plan = await planBatch(deps, chain, batch);
  if (plan === 'too_large' || plan === 'would_revert') {
    const half = Math.ceil(batch.items.length / 2);
    if (batch.items.length > 1) {
      await sendBatch(sending, { ...batch, items: batch.items.slice(0, half) });
      return sendBatch(sending, { ...batch, items: batch.items.slice(half) });
    }
    return giveUp(deps, batch);
  }
  if (isGasTooHigh(plan, deps.settings)) return reportGas(sending, batch);
  state.isGasReported = false;
  const recorded = await recordBatch(deps, batch, plan);
  if (recorded !== undefined) await deps.sender.broadcast(recorded.transactionId);
}

async function planBatch<T extends Item>(
  deps: SettlementContext,
  { chainId }: Chain,
  { name, purpose, items, to, encode }: Batch<T>,
): Promise<SendPlan | 'too_large' | 'would_revert'> {
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

/** Legs that cannot be sent now wait for their next attempt. */
async function giveUp<T extends Item>(deps: SettlementContext, { name, items }: Batch<T>): Promise<void> {
  const legs = items.map(({ leg }) => leg);
  if (name !== 'mint') return delayAll(deps, legs, 'reverted');
  // Most likely a third party has delivered the message, and its event is not final yet.
  for (const leg of legs) await postponeOrDelay(deps, leg, 'reverted');
}

const weiPerGwei = 1_000_000_000n;

function isGasTooHigh({ baseFee }: SendPlan, { maxBaseFeeGwei }: SettlementSettings): boolean {
  return maxBaseFeeGwei !== undefined && baseFee > BigInt(maxBaseFeeGwei) * weiPerGwei;
}

/** Logs once that legs have waited for cheaper gas for longer than a settlement should take. */
function reportGas<T extends Item>({ deps, chain, state }: Sending, { name, items }: Batch<T>): void {
  const { clock, log, settings } = deps;
  const oldestMs = Math.min(...items.map(({ leg }) => leg.createdAt.getTime()));
  const ageMs = clock.now().getTime() - oldestMs;
  if (state.isGasReported || ageMs < settings.notMinedAfterSeconds * 1_000) return;
  state.isGasReported = true;
  const error = new Error('settlements wait for the base fee to fall below settlement.maxBaseFeeGwei');
  const fields = { chainId: chain.chainId, leg: name, ageSeconds: Math.floor(ageMs / 1_000) };
  log.error('settlement.gas_too_high', error, fields);
}

async function recordBatch<T extends Item>(
  deps: SettlementContext,
  { name, purpose, items }: Batch<T>,
  plan: SendPlan,
) {
  return deps.db.transaction(async (transaction) => {
    const orderIds = items.map(({ leg }) => leg.orderId);
    // Every transaction locks sessions before their legs, and in one order, so that no two deadlock.
    const sessions = new Map<string, StoredSession>();
    for (const sessionId of new Set(items.map(({ leg }) => leg.sessionId).toSorted())) {
      const session = await lockSession(transaction, sessionId);
      if (session !== undefined) sessions.set(sessionId, session);
    }
    const locked = await transaction.query(lockWaitingLegs, { orderIds, leg: name });
    // Another worker has taken some of the legs, so the plan no longer fits.
    if (locked.length !== items.length) return undefined;
    const sent = await deps.sender.record(transaction, plan);
    const { transactionId } = sent;
    await transaction.query(markSent, { orderIds, leg: name, transactionId, updatedAt: deps.clock.now() });
    if (purpose === 'refund') return sent;
    for (const { leg } of items) {
      const session = sessions.get(leg.sessionId);
      if (session?.orderId === leg.orderId)
        await moveSession(transaction, deps, session, 'settlement_recorded');
    }
    return sent;
  });
}

/**
 * Handles the outcome of a settlement transaction, in the sender's transaction. Success needs nothing: events close the
 * legs, and blocks are read again where one is missing (`stuck-leg.ts`). A failed or superseded transaction never settles
 * anything, so its legs wait for a new one.
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
    // A third party may have delivered the message first. The chain's events show the result.
    if (leg.name === 'mint') await postponeLeg(transaction, leg, deps.clock.now());
    else await delayLeg(transaction, deps, leg, reason);
  }
}
