import { statement } from '@florin/pg';

// The earliest canonical payment of a session, on any chain. The session shows it after a reorg removed another.
export const canonicalPayment = statement({
  name: 'payment_canonical',
  parameters: { sessionId: 'text' },
  columns: { tx_hash: 'text' },
  text: `select e.tx_hash from chain_events e join orders o on o.order_id = e.order_id
   where o.session_id = :sessionId and e.event_name = 'Paid' order by e.block_time, e.chain_id, e.log_index limit 1`,
});
