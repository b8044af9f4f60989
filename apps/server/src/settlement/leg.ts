import type { Queryable, Transaction } from '@florin/pg';
import type { PendingReason } from '@florin/protocol/session.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { lockSession } from '#sessions/session.ts';
import { moveSession } from '#sessions/session-move.ts';
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

/**
 * A leg is one thing that must happen on one chain for a paid order, once: `settle` releases it from the gateway,
 * `payout` pays the merchant from the vault of another chain, `mint` delivers what was burnt for the merchant's chain,
 * `refund` returns a payment that lost against another. A burn of one that lost is delivered like any other.
 */
export type LegName = 'settle' | 'payout' | 'mint' | 'refund';

export interface Leg {
  readonly orderId: string;
  readonly name: LegName;
  readonly sessionId: string;
  readonly chainId: number;
  readonly status: LegStatus;
  readonly transactionId: bigint | undefined;
  /** How often it was sent, or could not be. */
  readonly attempts: number;
  readonly createdAt: Date;
  /** A person has looked: no cap of ours holds it any more. */
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

/** Asks for a leg. Asking again changes nothing. */
export async function requestLeg(
  transaction: Transaction,
  order: StoredOrder,
  leg: { name: LegName; chainId: number; at: Date },
): Promise<void> {
  await transaction.query(insertLeg, {
    orderId: order.orderId,
    leg: leg.name,
    sessionId: order.sessionId,
    chainId: leg.chainId,
    retryAt: leg.at,
  });
}

export async function findLeg(
  queryable: Queryable,
  orderId: string,
  name: LegName,
): Promise<Leg | undefined> {
  const rows = await queryable.query(legByOrder, { orderId, leg: name });
  return rows[0] === undefined ? undefined : parseLeg(rows[0]);
}

/** Closes a leg: the chain shows, finally, that it happened or that it never can. `reason` says which, empty when done. */
export async function closeLeg(
  transaction: Transaction,
  leg: { orderId: string; name: LegName; reason?: string; at: Date },
): Promise<void> {
  await transaction.query(markDone, {
    orderId: leg.orderId,
    leg: leg.name,
    reason: leg.reason ?? '',
    updatedAt: leg.at,
  });
}

/** Puts a leg that was done back in line: the event that showed it is gone. */
export async function reopenLeg(
  transaction: Transaction,
  leg: { orderId: string; name: LegName; at: Date },
): Promise<void> {
  await transaction.query(markReopened, { orderId: leg.orderId, leg: leg.name, retryAt: leg.at });
}

const firstRetryMs = 5_000;
const longestRetryMs = 15 * 60_000;
/** Each try for a blocked recipient costs gas, and lists of the blocked change by people's hands. */
const longestBlockedRetryMs = 6 * 3_600_000;

/** Waiting time before attempt `attempts + 1`: doubles from 5 s to 15 min, for a blocked recipient to 6 h. */
export function retryDelayMs(attempts: number, reason?: PendingReason): number {
  return doubled(attempts, reason === 'recipient_blocked' ? longestBlockedRetryMs : longestRetryMs);
}

/** Waiting time before blocks are read once more for the event of a leg: each time more of them. Doubles from 5 s to 6 h. */
export function rereadDelayMs(attempts: number): number {
  return doubled(attempts, 6 * 3_600_000);
}

function doubled(attempts: number, longestMs: number): number {
  return Math.min(longestMs, firstRetryMs * 2 ** Math.min(attempts, 20));
}

/**
 * Puts a leg back to waiting after a failed try and shows the session as settlement_pending with the reason; nothing
 * when the leg is not as it was read any more. Retried
 * for ever: the order id pays once on chain, so trying again is always safe.
 */
export async function delayLeg(
  transaction: Transaction,
  deps: SessionMoveContext,
  leg: Leg,
  reason: PendingReason,
): Promise<void> {
  const now = deps.clock.now();
  const retryAt = new Date(now.getTime() + retryDelayMs(leg.attempts, reason));
  const rows = await transaction.query(markWaiting, {
    orderId: leg.orderId,
    leg: leg.name,
    reason,
    retryAt,
    updatedAt: now,
    fromStatus: leg.status,
    transactionId: leg.transactionId ?? null,
  });
  if (rows.length === 0 || leg.name === 'refund') return;
  await showDelay(transaction, deps, leg, reason);
}

/**
 * Shows the session of an order as settlement_pending; nothing when it already is, when it has no settlement to delay, or
 * when another order has paid it: what becomes of a second payment delays nothing.
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

/** Puts a waiting leg off without a word to the merchant: what it waits for is usual. Nothing when it waits no more. */
export async function putOffLeg(transaction: Transaction, leg: Leg, now: Date): Promise<void> {
  const retryAt = new Date(now.getTime() + retryDelayMs(leg.attempts));
  await transaction.query(markWaiting, {
    orderId: leg.orderId,
    leg: leg.name,
    reason: '',
    retryAt,
    updatedAt: now,
    fromStatus: leg.status,
    transactionId: leg.transactionId ?? null,
  });
}

/**
 * Holds a waiting leg until a person releases it, and shows its session as settlement_pending with the reason. True when
 * it was not held already.
 */
export async function holdLeg(
  transaction: Transaction,
  deps: SessionMoveContext,
  leg: Leg,
  reason: PendingReason,
): Promise<boolean> {
  const held = await transaction.query(markHeld, {
    orderId: leg.orderId,
    leg: leg.name,
    reason,
    heldAt: deps.clock.now(),
  });
  if (held.length === 0) return false;
  await showDelay(transaction, deps, leg, reason);
  return true;
}

/** Shows that the transaction of a sent leg is not mined; nothing when it does not carry the leg any more. */
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
