import type { Transaction } from '@florin/pg';
import { findOrders } from '#orders/order.ts';
import { parseOrder } from '#orders/order-row.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { lockOrdersWithSessions, orderPart } from './event-order.sql.ts';
import { parseSession } from './session-row.ts';
import type { StoredSession } from './stored-session.ts';

/** An order with its session. The session's row is locked until the transaction ends. */
export interface LockedOrder {
  readonly order: StoredOrder;
  readonly session: StoredSession;
}

/** Orders read by one statement, which bounds the memory of a long catch-up. */
const ordersPerRead = 500;
/** The same with their sessions, each of 80 kB at most. */
const sessionsPerRead = 50;

function inPortions<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, portion) =>
    items.slice(portion * size, (portion + 1) * size),
  );
}

function idsOf(items: readonly { readonly orderId: string }[]): string[] {
  return [...new Set(items.map(({ orderId }) => orderId))];
}

/** Calls `react` for each item whose order is known, in the order of the items. */
export async function eachWithOrder<Item extends { readonly orderId: string }>(
  transaction: Transaction,
  items: readonly Item[],
  react: (item: Item, order: StoredOrder) => Promise<void>,
): Promise<void> {
  for (const portion of inPortions(items, ordersPerRead)) {
    const orders = new Map<string, StoredOrder>(
      (await findOrders(transaction, idsOf(portion))).map((order) => [order.orderId, order]),
    );
    for (const item of portion) {
      const order = orders.get(item.orderId);
      if (order !== undefined) await react(item, order);
    }
  }
}

/**
 * Calls `react` for each item in their order, with its order and the locked session; undefined for orders that this
 * database does not know. `react` moves no other session, and returns the session if it moved it.
 */
export async function eachWithLockedOrder<Item extends { readonly orderId: string }>(
  transaction: Transaction,
  items: readonly Item[],
  react: (item: Item, found: LockedOrder | undefined) => Promise<StoredSession | undefined>,
): Promise<void> {
  for (const portion of inPortions(items, sessionsPerRead)) {
    const rows = await transaction.query(lockOrdersWithSessions, { orderIds: idsOf(portion) });
    const orders = new Map<string, StoredOrder>(
      rows.map((row) => [row.of_order_order_id, parseOrder(orderPart(row))]),
    );
    // Two orders of one session may be paid in the same block.
    const sessions = new Map(rows.map((row) => [row.session_id, parseSession(row)]));
    for (const item of portion) {
      const order = orders.get(item.orderId);
      const session = order === undefined ? undefined : sessions.get(order.sessionId);
      const found = order === undefined || session === undefined ? undefined : { order, session };
      const moved = await react(item, found);
      if (moved !== undefined) sessions.set(moved.sessionId, moved);
    }
  }
}
