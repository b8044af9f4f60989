import { type Row, statement } from '@florin/pg';
import { awaitLockOf } from '#db/advisory-lock.ts';
import { sentHash } from '#submissions/sent-hash.ts';

// By session: payments for one offer wait for each other, in all its tokens, and the second finds the first one's rows.
export const lockOffer = statement(
  'x402_lock_offer',
  ['text'],
  { locked: 'bool?' },
  `select true as locked from ${awaitLockOf('x402Offer', '$1::text')}`,
);

// Called under the payer's lock, which it takes again, so it never answers null.
export const authorizationRoom = statement(
  'x402_authorization_room',
  ['text', 'int8', 'timestamptz'],
  { room: 'int8?' },
  'select authorization_room($1, $2, $3) as room',
);

const columns = {
  order_id: 'text',
  session_id: 'text',
  payload_hash: 'text',
  is_moved: 'bool',
  business_id: 'text',
  session_status: 'text',
  paid_order_id: 'text',
  sent_status: 'text',
  sent_hash: 'text',
  paid_hash: 'text',
  is_collecting: 'bool',
} as const;

// The payment with all its facts: the session, our transaction, and the order's own payment in a block.
const select = `select p.order_id, p.session_id, p.payload_hash, p.is_moved, s.business_id, s.status as session_status,
     s.order_id as paid_order_id, coalesce(u.status, '') as sent_status, coalesce(${sentHash('u')}, '') as sent_hash,
     coalesce(
       (select e.tx_hash from chain_events e where e.order_id = p.order_id and e.event_name = 'Paid' limit 1),
       case when s.order_id = p.order_id then s.initiate_tx end, '') as paid_hash,
     exists (
       select from deposit_moves m
       where m.order_id = p.order_id and m.move = 'collect' and m.status <> 'failed') as is_collecting
   from x402_payments p
     join sessions s on s.session_id = p.session_id
     left join submissions u on u.order_id = p.order_id`;

export const paymentByAddress = statement(
  'x402_payment_by_address',
  ['int8', 'text'],
  columns,
  `${select} where p.chain_id = $1 and p.pay_to = $2`,
);
export type PaymentRow = Row<typeof paymentByAddress>;

export const paymentsByOrders = statement(
  'x402_payments_by_orders',
  ['text[]'],
  columns,
  `${select} where p.order_id = any ($1)`,
);

// A new authorization replaces one that moved no money.
export const upsertPayment = statement(
  'x402_payment_upsert',
  ['text', 'text', 'int8', 'text', 'text', 'bool', 'timestamptz'],
  {},
  `insert into x402_payments (order_id, session_id, chain_id, pay_to, payload_hash, is_moved, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $7)
   on conflict (order_id) do update set payload_hash = $5, is_moved = $6, updated_at = $7`,
);

export const setMoved = statement(
  'x402_payment_set_moved',
  ['text', 'text', 'timestamptz'],
  {},
  'update x402_payments set is_moved = true, updated_at = $3 where order_id = $1 and payload_hash = $2',
);
