import type { Queryable, Transaction } from '@florin/pg';
import type { PendingReason } from '@florin/protocol/session.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
import type { SettlementContext } from './context.ts';
import type { LegStatus } from './leg.machine.ts';
import {
  insertLeg,
  type LegRow,
  legByOrder,
  markDone,
  markHeld,
  markNotMined,
  markReopened,
  markWaiting,
} from './leg.sql.ts';
import { retryDelayMs } from './retry.ts';

/**
 * A leg is one thing that must happen once, on one chain, for a paid order. `settle` releases the money from the
 * gateway. `payout` pays the merchant from the vault of another chain. `mint` delivers money that was burnt for the
 * merchant's chain. `refund` returns a second payment to its payer; a second payment that is already burnt is minted.
 */
export type LegName = 'settle' | 'payout' | 'mint' | 'refund';

export interface Leg {
  readonly orderId: string;
  readonly name: LegName;
  readonly sessionId: string;
  readonly chainId: number;
  readonly status: LegStatus;
  readonly transactionId: bigint | undefined;
  /** How often it was sent, or could not be sent. */
  readonly attempts: number;
  readonly createdAt: Date;
  /** A person has released it: the operator's caps no longer hold it. */
  readonly isReleased: boolean;
}

/** Reads a row of `settlements`. */
export function parseLeg(row: LegRow): Leg {
  return {
    orderId: row.order_id,
    name: row.leg as LegName,
    sessionId: row.session_id,
    chainId: Number(row.chain_id),
    status: row.status as LegStatus,
    transactionId: row.transaction_id ?? undefined,
    attempts: row.attempts,
    createdAt: row.created_at,
    isReleased: row.released_at !== null,
  };
}

/** Adds a leg; a leg that exists stays as it is. */
export async function requestLeg(
  transaction: Transaction,
  { orderId, sessionId }: StoredOrder,
  { name, chainId, at }: { name: LegName; chainId: number; at: Date },
): Promise<void> {
  await transaction.query(insertLeg, { orderId, leg: name, sessionId, chainId, retryAt: at });
}

export async function findLeg(
  queryable: Queryable,
  orderId: string,
  name: LegName,
): Promise<Leg | undefined> {
  const [row] = await queryable.query(legByOrder, { orderId, leg: name });
  return row === undefined ? undefined : parseLeg(row);
}

/** Closes a leg after a final event. Without a reason it happened; a reason says why it never can. */
export async function closeLeg(
  transaction: Transaction,
  { orderId, name, reason = '', at }: { orderId: string; name: LegName; reason?: string; at: Date },
): Promise<void> {
  await transaction.query(markDone, { orderId, leg: name, reason, updatedAt: at });
}

/** Queues a leg again whose closing event is gone. */
export async function reopenLeg(
  transaction: Transaction,
  { orderId, name, at }: { orderId: string; name: LegName; at: Date },
): Promise<void> {
  await transaction.query(markReopened, { orderId, leg: name, retryAt: at });
}

/**
 * Returns a leg to waiting after a failed attempt, and shows its session as settlement_pending with the reason. Does
 * nothing if the leg has changed since it was read. Attempts never end: the order id pays once on chain, so trying again
 * is always safe.
 */
export async function delayLeg(
  transaction: Transaction,
  deps: SessionMoveContext,
  leg: Leg,
  reason: PendingReason,
): Promise<void> {
  const isDelayed = await returnToWaiting(transaction, leg, { reason, now: deps.clock.now() });
  if (isDelayed && leg.name !== 'refund') await showDelay(transaction, deps, leg, reason);
}

/** Delays legs for one reason, in one transaction. */
export async function delayAll(
  deps: SettlementContext,
  legs: readonly Leg[],
  reason: PendingReason,
): Promise<void> {
  await deps.db.transaction(async (transaction) => {
    for (const leg of legs) await delayLeg(transaction, deps, leg, reason);
  });
}

/** Returns a leg to waiting without showing it: the reason for the wait is usual. */
export async function postponeLeg(transaction: Transaction, leg: Leg, now: Date): Promise<void> {
  await returnToWaiting(transaction, leg, { reason: '', now });
}

/** Postpones a leg for a usual reason. Shows the reason once the leg has waited longer than a settlement should. */
export async function postponeOrDelay(
  deps: SettlementContext,
  leg: Leg,
  reason: PendingReason,
): Promise<void> {
  const now = deps.clock.now();
  const isLate = now.getTime() - leg.createdAt.getTime() >= deps.settings.notMinedAfterSeconds * 1_000;
  await deps.db.transaction((transaction) =>
    isLate ? delayLeg(transaction, deps, leg, reason) : postponeLeg(transaction, leg, now),
  );
}

async function returnToWaiting(
  transaction: Transaction,
  leg: Leg,
  { reason, now }: { readonly reason: PendingReason | ''; readonly now: Date },
): Promise<boolean> {
  const delayMs = retryDelayMs(leg.attempts, reason === '' ? undefined : reason);
  const rows = await transaction.query(markWaiting, {
    orderId: leg.orderId,
    leg: leg.name,
    reason,
    retryAt: new Date(now.getTime() + delayMs),
    updatedAt: now,
    fromStatus: leg.status,
    transactionId: leg.transactionId ?? null,
  });
  return rows.length > 0;
}

/**
 * Shows the session of an order as settlement_pending. Does nothing if it is shown so already, has no settlement to
 * delay, or was paid by another order: a second payment delays nothing.
 */
export async function showDelay(
  transaction: Transaction,
  deps: SessionMoveContext,
  of: { readonly orderId: string; readonly sessionId: string },
  reason: PendingReason,
): Promise<void> {
  const session = await lockSession(transaction, of.sessionId);
  if (session?.orderId !== of.orderId) return;
  await moveSession(transaction, deps, session, 'settlement_delayed', { pendingReason: reason });
}

/**
 * Holds a waiting leg until a person releases it, and shows its session as settlement_pending with the reason. False
 * when it was held already.
 */
export async function holdLeg(
  transaction: Transaction,
  deps: SessionMoveContext,
  leg: Leg,
  reason: PendingReason,
): Promise<boolean> {
  const { orderId, name } = leg;
  const held = await transaction.query(markHeld, { orderId, leg: name, reason, heldAt: deps.clock.now() });
  if (held.length === 0) return false;
  await showDelay(transaction, deps, leg, reason);
  return true;
}

/** Shows that the transaction of a sent leg is not mined. Does nothing if it no longer carries the leg. */
export async function showLegNotMined(
  transaction: Transaction,
  deps: SessionMoveContext,
  leg: Leg,
): Promise<void> {
  const marked = await transaction.query(markNotMined, {
    orderId: leg.orderId,
    leg: leg.name,
    transactionId: leg.transactionId ?? null,
    updatedAt: deps.clock.now(),
  });
  if (marked.length === 0 || leg.name === 'refund') return;
  await showDelay(transaction, deps, leg, 'not_mined');
}
