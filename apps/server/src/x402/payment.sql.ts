import { type Row, statement } from '@florin/pg';
import { turnOf } from '#db/advisory-lock.ts';
import { sentHash } from '#submissions/sent-hash.ts';

// By session: payments for one offer wait for each other, in all its tokens, and the second finds the first one's rows.
export const lockOffer = turnOf('x402Offer');

// Called under the payer's lock, which it takes again, so it never answers null.
export const authorizationRoom = statement({
  name: 'x402_authorization_room',
  parameters: { payer: 'text', limit: 'int8?', now: 'timestamptz' },
  columns: { room: 'int8?' },
  text: 'select authorization_room(:payer, :limit, :now) as room',
});

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

export const paymentByAddress = statement({
  name: 'x402_payment_by_address',
  parameters: { chainId: 'int8', payTo: 'text' },
  columns,
  text: `${select} where p.chain_id = :chainId and p.pay_to = :payTo`,
});
export type PaymentRow = Row<typeof paymentByAddress>;

export const paymentsByOrders = statement({
  name: 'x402_payments_by_orders',
  parameters: { orderIds: 'text[]' },
  columns,
  text: `${select} where p.order_id = any (:orderIds)`,
});

// A new authorization replaces one that moved no money.
export const upsertPayment = statement({
  name: 'x402_payment_upsert',
  parameters: {
    orderId: 'text',
    sessionId: 'text',
    chainId: 'int8',
    payTo: 'text',
    payloadHash: 'text',
    isMoved: 'bool',
    createdAt: 'timestamptz',
  },
  text: `insert into x402_payments (order_id, session_id, chain_id, pay_to, payload_hash, is_moved, created_at, updated_at)
   values (:orderId, :sessionId, :chainId, :payTo, :payloadHash, :isMoved, :createdAt, :createdAt)
   on conflict (order_id) do update set payload_hash = :payloadHash, is_moved = :isMoved, updated_at = :createdAt`,
});

export const setMoved = statement({
  name: 'x402_payment_set_moved',
  parameters: { orderId: 'text', payloadHash: 'text', updatedAt: 'timestamptz' },
  text: 'update x402_payments set is_moved = true, updated_at = :updatedAt where order_id = :orderId and payload_hash = :payloadHash',
});
