import { statement } from '@florin/pg';
import { orderColumns } from './order-row.ts';

const columnList = Object.keys(orderColumns).join(', ');

// The same order signed again is the same row: identical terms give an identical id.
export const insertOrder = statement(
  'order_insert',
  [
    'text',
    'text',
    'int8',
    'text',
    'text',
    'text',
    'text',
    'text',
    'text',
    'text',
    'numeric',
    'numeric',
    'numeric',
    'int8',
    'int8',
    'int4',
    'int8',
    'int8',
    'int8',
    'int8',
    'int8',
    'text',
    'text',
    'text',
    'timestamptz',
    'text',
    'text',
  ],
  {},
  `insert into orders (${columnList}, created_at, receiver, network)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27)
   on conflict (order_id) do nothing`,
);

export const orderById = statement({
  name: 'order_by_id',
  parameters: { orderId: 'text' },
  columns: orderColumns,
  text: `select ${columnList} from orders where order_id = :orderId`,
});

export const ordersByIds = statement({
  name: 'orders_by_ids',
  parameters: { orderIds: 'text[]' },
  columns: orderColumns,
  text: `select ${columnList} from orders where order_id = any (:orderIds)`,
});

// The addresses that payers may have sent to. An order for a wallet that has another one beside it for deposits is none.
export const depositOrdersOfSession = statement({
  name: 'order_deposits_of_session',
  parameters: { sessionId: 'text', limit: 'int8' },
  columns: orderColumns,
  text: `select ${columnList} from orders o
   where o.session_id = :sessionId and not exists (
     select from deposit_terms t where t.wallet_order_id = o.order_id)
   order by o.created_at desc, o.order_id limit :limit`,
});
