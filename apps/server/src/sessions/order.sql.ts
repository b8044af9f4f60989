import { type Row, statement } from '#db/statement.ts';

/** What is read of an order. */
export const orderColumns = {
  order_id: 'text',
  session_id: 'text',
  chain_id: 'int8',
  token_id: 'text',
  channel_id: 'text',
  meta_data: 'text',
  payer: 'text',
  payer_email: 'text',
  token: 'text',
  recipient: 'text',
  total: 'numeric',
  payment: 'numeric',
  fee: 'numeric',
  pay_by: 'int8',
  reclaim_at: 'int8',
  order_type: 'int4',
  target_chain: 'int8',
  total_value: 'int8',
  payment_value: 'int8',
  fee_value: 'int8',
  net_value: 'int8',
  signature: 'text',
  gateway: 'text',
  payout_vault: 'text',
} as const;

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

export const orderById = statement(
  'order_by_id',
  ['text'],
  orderColumns,
  `select ${columnList} from orders where order_id = $1`,
);
export type OrderRow = Row<typeof orderById>;

export const ordersByIds = statement(
  'orders_by_ids',
  ['text[]'],
  orderColumns,
  `select ${columnList} from orders where order_id = any ($1)`,
);

// The addresses that payers may have sent to. An order for a wallet that has another one beside it for deposits is none.
export const depositOrdersOfSession = statement(
  'order_deposits_of_session',
  ['text', 'int8'],
  orderColumns,
  `select ${columnList} from orders o
   where o.session_id = $1 and not exists (
     select from deposit_terms t where t.wallet_order_id = o.order_id)
   order by o.created_at desc, o.order_id limit $2`,
);
