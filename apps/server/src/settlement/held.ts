import type { Queryable, Transaction } from '@florin/pg';
import { openLegs, releaseLegs } from './held.sql.ts';
import type { LegName } from './leg.ts';

/** A leg that does not go its usual way, for a person to look at. */
export interface OpenLeg {
  readonly orderId: string;
  readonly leg: LegName;
  readonly sessionId: string;
  readonly chainId: number;
  readonly status: 'waiting' | 'sent';
  readonly reason: string;
  readonly attempts: number;
  /** Micro-USD that the merchant is to get. */
  readonly netValue: bigint;
  readonly since: Date;
  /** When it is tried again; undefined while it is held for a person's release. */
  readonly retryAt: Date | undefined;
}

/** The legs that are delayed or held, the oldest first, at most `limit`. */
export async function listOpenLegs(queryable: Queryable, limit: number): Promise<readonly OpenLeg[]> {
  const rows = await queryable.query(openLegs, { limit });
  return rows.map((row) => ({
    orderId: row.order_id,
    leg: row.leg as LegName,
    sessionId: row.session_id,
    chainId: Number(row.chain_id),
    status: row.status as OpenLeg['status'],
    reason: row.reason,
    attempts: row.attempts,
    netValue: row.net_value,
    since: row.created_at,
    retryAt: row.held_at !== null && row.released_at === null ? undefined : row.retry_at,
  }));
}

/** A leg that a person has let go. */
export interface ReleasedLeg {
  readonly leg: LegName;
  readonly chainId: number;
  /** Whether a cap of the operator's had held it. */
  readonly wasHeld: boolean;
}

/**
 * Lets an order's waiting legs go at once, over the operator's own caps; the caps of the contracts stay. Empty when none
 * waits. The order id pays once on chain, so releasing twice is harmless.
 */
export async function releaseOrder(
  transaction: Transaction,
  orderId: string,
  at: Date,
): Promise<readonly ReleasedLeg[]> {
  const rows = await transaction.query(releaseLegs, { orderId, releasedAt: at });
  return rows.map((row) => ({
    leg: row.leg as LegName,
    chainId: Number(row.chain_id),
    wasHeld: row.was_held === true,
  }));
}
