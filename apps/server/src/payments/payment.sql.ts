import { statement } from '@florin/pg';

// Which canonical payment a session shows after a reorg took one away: the earliest that is left on any chain.
export const canonicalPayment = statement({
  name: 'payment_canonical',
  parameters: { sessionId: 'text' },
  columns: { order_id: 'text', tx_hash: 'text' },
  text: `select e.order_id, e.tx_hash from chain_events e join orders o on o.order_id = e.order_id
   where o.session_id = :sessionId and e.event_name = 'Paid' order by e.block_time, e.chain_id, e.log_index limit 1`,
});
