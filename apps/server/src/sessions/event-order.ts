import type { Row, Transaction } from '@florin/pg';
import { findOrders } from '#orders/order.ts';
import { parseOrder } from '#orders/order-row.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { lockOrdersWithSessions, orderPart } from './event-order.sql.ts';
import { parseSession } from './session-row.ts';
import type { StoredSession } from './stored-session.ts';

/** An order with its session, whose row is locked until the transaction ends. */
export interface LockedOrder {
  readonly order: StoredOrder;
  readonly session: StoredSession;
}

/** Orders looked up in one statement; it bounds the memory that a long catch-up takes. */
const ordersAtOnce = 500;
/** The same with their sessions, each of 80 kB at most. */
const sessionsAtOnce = 50;

function inPortions<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, portion) =>
    items.slice(portion * size, (portion + 1) * size),
  );
}

function idsOf(items: readonly { readonly orderId: string }[]): string[] {
  return [...new Set(items.map(({ orderId }) => orderId))];
}

/** Takes items in their order, each with the order that it is about, where this service knows it. */
export async function eachWithOrder<Item extends { readonly orderId: string }>(
  transaction: Transaction,
  items: readonly Item[],
  take: (item: Item, order: StoredOrder) => Promise<void>,
): Promise<void> {
  for (const portion of inPortions(items, ordersAtOnce)) {
    const orders = new Map<string, StoredOrder>(
      (await findOrders(transaction, idsOf(portion))).map((order) => [order.orderId, order]),
    );
    for (const item of portion) {
      const order = orders.get(item.orderId);
      if (order !== undefined) await take(item, order);
    }
  }
}

/** Does something with an item and what it is about, and returns the session as it has left it where it has moved it. */
type TakeLocked<Item> = (item: Item, found: LockedOrder | undefined) => Promise<StoredSession | undefined>;

/**
 * Takes items in their order, each with the order that it is about and its session, locked; undefined for orders that this
 * database does not know. `take` moves no session but that one.
 */
export async function eachWithLockedOrder<Item extends { readonly orderId: string }>(
  transaction: Transaction,
  items: readonly Item[],
  take: TakeLocked<Item>,
): Promise<void> {
  const takeAll = await lockFirstOrders(transaction, items);
  await takeAll(take);
}

/** The same in two steps: looks up and locks what comes first, and gives what takes all items. */
export async function lockFirstOrders<Item extends { readonly orderId: string }>(
  transaction: Transaction,
  items: readonly Item[],
): Promise<(take: TakeLocked<Item>) => Promise<void>> {
  const lock = (portion: readonly Item[]) =>
    transaction.query(lockOrdersWithSessions, { orderIds: idsOf(portion) });
  const [first = [], ...others] = inPortions(items, sessionsAtOnce);
  const rows = first.length === 0 ? [] : await lock(first);
  return async (take) => {
    await takePortion(first, rows, take);
    for (const portion of others) await takePortion(portion, await lock(portion), take);
  };
}

async function takePortion<Item extends { readonly orderId: string }>(
  portion: readonly Item[],
  rows: readonly Row<typeof lockOrdersWithSessions>[],
  take: TakeLocked<Item>,
): Promise<void> {
  const orders = new Map<string, StoredOrder>(
    rows.map((row) => [row.of_order_order_id, parseOrder(orderPart(row))]),
  );
  // Two orders of one session may be paid in the same block.
  const sessions = new Map<string, StoredSession>(rows.map((row) => [row.session_id, parseSession(row)]));
  for (const item of portion) {
    const order = orders.get(item.orderId);
    const session = order === undefined ? undefined : sessions.get(order.sessionId);
    const found = order === undefined || session === undefined ? undefined : { order, session };
    const left = await take(item, found);
    if (left !== undefined) sessions.set(left.sessionId, left);
  }
}
