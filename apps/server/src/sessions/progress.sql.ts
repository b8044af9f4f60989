import { statement } from '@florin/pg';

// For each session one payment in a block of any chain: the one that the session names, or else the earliest. With the
// position of that chain's cursor. Only collected deposits have a collection that did not fail. Until a halted chain
// has begun again, at one of the blocks that are kept, all payments and returns in these are in doubt.
export const paymentsSeen = statement({
  name: 'session_payments_seen',
  parameters: { sessionIds: 'text[]' },
  columns: {
    session_id: 'text',
    order_id: 'text',
    chain_id: 'int8',
    token_id: 'text',
    payer: 'text',
    is_deposit: 'bool',
    paid_amount: 'numeric',
    total_value: 'int8',
    payment_value: 'int8',
    block_number: 'int8',
    head_number: 'int8',
    final_number: 'int8',
    is_in_doubt: 'bool',
  },
  text: `select distinct on (o.session_id) o.session_id, o.order_id, o.chain_id, o.token_id, o.payer,
     exists (select from deposit_moves m where m.order_id = o.order_id and m.move = 'collect' and m.status <> 'failed') as is_deposit,
     o.total - o.added as paid_amount, o.total_value, o.payment_value, e.block_number, c.head_number, c.final_number,
     (c.halted_reason <> '' or c.is_resync_due) and exists (
       select from chain_events one join chain_blocks b on b.chain_id = one.chain_id and b.block_number = one.block_number
       where one.order_id = o.order_id and one.chain_id = e.chain_id
         and one.event_name in ('Paid', 'Refunded', 'Reclaimed', 'SettlementRefunded')) as is_in_doubt
   from sessions s
     join orders o on o.session_id = s.session_id
     join chain_events e on e.order_id = o.order_id and e.event_name = 'Paid'
     join chain_cursors c on c.chain_id = o.chain_id
   where s.session_id = any (:sessionIds)
   order by o.session_id, e.tx_hash = s.initiate_tx desc, e.block_time, e.chain_id, e.log_index`,
});

// Orders whose final payment a reorg below finality took back, until it is final again.
export const lostPayments = statement({
  name: 'session_payments_lost',
  parameters: { orderIds: 'text[]' },
  columns: { order_id: 'text', pay_by: 'int8' },
  text: `select o.order_id, o.pay_by from dropped_events d join orders o on o.order_id = d.order_id
   where d.order_id = any (:orderIds) and d.event_name = 'Paid' and d.returned_at is null`,
});

// The same of money that went back from its order, whether or not that paid.
export const returnsInDoubt = statement({
  name: 'session_returns_in_doubt',
  parameters: { orderIds: 'text[]' },
  columns: { tx_hash: 'text' },
  text: `select e.tx_hash
   from chain_events e
     join chain_cursors c on c.chain_id = e.chain_id
     join chain_blocks b on b.chain_id = e.chain_id and b.block_number = e.block_number
   where e.order_id = any (:orderIds) and e.event_name in ('Refunded', 'Reclaimed', 'SettlementRefunded', 'Rescued')
     and (c.halted_reason <> '' or c.is_resync_due)`,
});

export const sessionSalt = statement({
  name: 'session_salt',
  parameters: { sessionId: 'text' },
  columns: { salt: 'text' },
  text: 'select salt from sessions where session_id = :sessionId',
});
