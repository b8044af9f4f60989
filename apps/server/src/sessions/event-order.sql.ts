import { type Row, statement } from '@florin/pg';
import { type OrderRow, orderColumns } from '#orders/order-row.ts';
import { sessionColumns } from './session.sql.ts';

type Named<Columns, Prefix extends string> = {
  [Name in keyof Columns & string as `${Prefix}${Name}`]: Columns[Name];
};

/** Orders and sessions have columns of the same names. Those of orders get this prefix. */
const prefix = 'of_order_';
const prefixedOrderColumns = Object.fromEntries(
  Object.entries(orderColumns).map(([name, kind]) => [`${prefix}${name}`, kind]),
) as Named<typeof orderColumns, typeof prefix>;

const columnList = [
  ...Object.keys(sessionColumns).map((name) => `s.${name}`),
  ...Object.keys(orderColumns).map((name) => `o.${name} as ${prefix}${name}`),
].join(', ');

// Locks in the order of the sessions' ids, so that two transactions cannot deadlock.
export const lockOrdersWithSessions = statement({
  name: 'order_lock_with_session',
  parameters: { orderIds: 'text[]' },
  columns: { ...sessionColumns, ...prefixedOrderColumns },
  text: `select ${columnList} from orders o join sessions s on s.session_id = o.session_id
   where o.order_id = any (:orderIds) order by s.session_id, o.order_id for update of s`,
});

/** The order's part of a row. */
export function orderPart(row: Row<typeof lockOrdersWithSessions>): OrderRow {
  const own = Object.entries(row).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(
    own.map(([name, value]) => [name.slice(prefix.length), value]),
  ) as unknown as OrderRow;
}
