import { statement } from '#db/statement.ts';

// The newest ones: whoever has just got an address is the one who is about to pay.
export const openOrders = statement(
  'deposit_open_orders',
  ['int8', 'int8', 'int8'],
  { order_id: 'text' },
  `select o.order_id from orders o join sessions s on s.session_id = o.session_id
   where o.chain_id = $1 and o.pay_by >= $2 and s.status = 'initialized' and s.initiate_tx = ''
   order by o.created_at desc, o.order_id limit $3`,
);

export const ordersToLookAt = statement(
  'deposit_orders_to_look_at',
  ['int8', 'int8', 'int8', 'text', 'int8'],
  { order_id: 'text', pay_by: 'int8' },
  `select order_id, pay_by from orders
   where chain_id = $1 and pay_by >= $2 and (pay_by, order_id) > ($3, $4)
   order by pay_by, order_id limit $5`,
);

export const moveOfOrder = statement(
  'deposit_move',
  ['text', 'text', 'text'],
  { status: 'text' },
  'select status from deposit_moves where order_id = $1 and move = $2 and token = $3',
);

export const insertMove = statement(
  'deposit_move_insert',
  ['text', 'text', 'text', 'int8', 'int8', 'timestamptz'],
  {},
  `insert into deposit_moves (order_id, move, token, chain_id, status, transaction_id, created_at, updated_at)
   values ($1, $2, $3, $4, 'sent', $5, $6, $6)
   on conflict (order_id, move, token) do update set status = 'sent', transaction_id = $5, updated_at = $6`,
);

export const concludeMove = statement(
  'deposit_move_conclude',
  ['int8', 'text', 'timestamptz'],
  {},
  `update deposit_moves set status = $2, updated_at = $3 where transaction_id = $1 and status = 'sent'`,
);
