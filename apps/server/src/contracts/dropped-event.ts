import type { Queryable } from '@florin/pg';
import { droppedOfChain } from './dropped-event.sql.ts';

/** A final event that a reorganisation removed, and when it returned. */
export interface DroppedEvent {
  readonly orderId: string;
  readonly name: string;
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly droppedAt: Date;
  /** Undefined while it has not returned. */
  readonly returnedAt: Date | undefined;
  /** Undefined for orders that this database does not know. */
  readonly session: { readonly sessionId: string; readonly status: string } | undefined;
}

/** The dropped events of one chain, the missing ones first; at most `limit`. */
export async function findDroppedEvents(
  queryable: Queryable,
  chainId: number,
  limit: number,
): Promise<readonly DroppedEvent[]> {
  const rows = await queryable.query(droppedOfChain, { chainId, limit });
  return rows.map((row) => ({
    orderId: row.order_id,
    name: row.event_name,
    txHash: row.tx_hash,
    blockNumber: row.block_number,
    droppedAt: row.dropped_at,
    returnedAt: row.returned_at ?? undefined,
    session:
      row.session_id === null || row.session_status === null
        ? undefined
        : { sessionId: row.session_id, status: row.session_status },
  }));
}
