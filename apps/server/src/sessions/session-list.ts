import type { Queryable, Row } from '@florin/pg';
import { chooseList, type FiltersOf } from '#db/counted-list.ts';
import { type ListPage, type ListRequest, pageValues, readPage } from '#db/list-page.ts';
import { findOrders } from '#orders/order.ts';
import { filteredSessionPage, itemsOfSessions, selectSessionPage } from './session.sql.ts';
import type { StoredSessionView } from './session-json.ts';
import { parseSession } from './session-row.ts';

/**
 * One page of the merchant's sessions, newest first, with the exact total: all of them, or those that the filters select.
 * Portions of limited bytes keep the order. Each is read after the one before was consumed. Throws for filters by which no
 * list is counted.
 */
export async function listSessionViews(
  queryable: Queryable,
  { merchantId, page: number, size, after, ...filters }: ListRequest & FiltersOf<'sessions'>,
): Promise<{ place: ListPage; portions: AsyncIterable<readonly StoredSessionView[]> }> {
  const place = pageValues({ merchantId, page: number, size, after });
  const chosen = chooseList('sessions', filters);
  const rows = await (chosen === undefined
    ? queryable.query(selectSessionPage, place)
    : queryable.query(filteredSessionPage(chosen.list), { ...place, values: chosen.values }));
  const page = readPage(rows, size, (row) => row.session_id);
  return { place: page.place, portions: viewPortions(queryable, page.rows) };
}

/** The views of sessions in the order of their rows, in portions of limited bytes. Missing line items are read. */
export async function* viewPortions(
  queryable: Queryable,
  rows: readonly Omit<Row<typeof selectSessionPage>, 'total' | 'is_listed'>[],
): AsyncGenerator<readonly StoredSessionView[]> {
  const orderIds = rows.map((row) => row.order_id).filter((orderId) => orderId !== '');
  const orders = orderIds.length === 0 ? [] : await findOrders(queryable, orderIds);
  const byId = new Map(orders.map((order) => [order.orderId as string, order]));
  let items = new Map<string, string>();
  for (let left = rows; left.length > 0; ) {
    const portion: StoredSessionView[] = [];
    for (const row of left) {
      const lineItems = row.line_items ?? items.get(row.session_id);
      if (lineItems === undefined) break;
      const session = parseSession({ ...row, line_items: lineItems });
      portion.push({ session, order: byId.get(session.orderId) });
    }
    if (portion.length === 0) throw new Error(`the session ${left[0]?.session_id} has no line items`);
    yield portion;
    left = left.slice(portion.length);
    if (left.length === 0) return;
    const read = await queryable.query(itemsOfSessions, { sessionIds: left.map((row) => row.session_id) });
    items = new Map(read.map((row) => [row.session_id, row.line_items]));
  }
}
