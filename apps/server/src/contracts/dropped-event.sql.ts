import { statement } from '@florin/pg';

export const droppedOfChain = statement({
  name: 'watcher_dropped_list',
  parameters: { chainId: 'int8', limit: 'int8' },
  columns: {
    order_id: 'text',
    event_name: 'text',
    tx_hash: 'text',
    block_number: 'int8',
    dropped_at: 'timestamptz',
    returned_at: 'timestamptz?',
    session_id: 'text?',
    session_status: 'text?',
  },
  text: `select d.order_id, d.event_name, d.tx_hash, d.block_number, d.dropped_at, d.returned_at, nullif(s.session_id, '') as session_id,
     nullif(s.status, '') as session_status
   from dropped_events d left join orders o on o.order_id = d.order_id
     left join sessions s on s.session_id = o.session_id
   where d.chain_id = :chainId order by d.returned_at nulls first, d.block_number, d.log_index limit :limit`,
});
