import type { Queryable, Transaction } from '@florin/pg';
import { openLegs, releaseLegs } from './held.sql.ts';
import type { LegName } from './leg.ts';

/** A leg that an operator should see. */
export interface OpenLeg {
  readonly orderId: string;
  readonly leg: LegName;
  readonly sessionId: string;
  readonly merchantId: string;
  readonly chainId: number;
  readonly status: 'waiting' | 'sent';
  readonly reason: string;
  readonly attempts: number;
  /** What the merchant gets, in Micro-USD. */
  readonly netValue: bigint;
  readonly since: Date;
  /** The time of the next attempt; undefined while it waits for a person's release. */
  readonly retryAt: Date | undefined;
}

/** Delayed and held legs, the oldest first, at most `limit`. */
export async function listOpenLegs(queryable: Queryable, limit: number): Promise<readonly OpenLeg[]> {
  const rows = await queryable.query(openLegs, { limit });
  return rows.map((row) => ({
    orderId: row.order_id,
    leg: row.leg as LegName,
    sessionId: row.session_id,
    merchantId: row.merchant_id,
    chainId: Number(row.chain_id),
    status: row.status as OpenLeg['status'],
    reason: row.reason,
    attempts: row.attempts,
    netValue: row.net_value,
    since: row.created_at,
    retryAt: row.held_at !== null && row.released_at === null ? undefined : row.retry_at,
  }));
}

/** A leg that a person has released. */
export interface ReleasedLeg {
  readonly leg: LegName;
  readonly chainId: number;
  /** Whether one of the operator's caps had held it. */
  readonly wasHeld: boolean;
}

/**
 * Releases an order's waiting legs at once, above the operator's own caps; the contracts' caps still apply. Empty when
 * none waits. The order id pays once on chain, so releasing twice is harmless.
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
