import { statement } from '@florin/pg';

// For the operator: legs that wait for an unusual reason, the oldest first.
export const openLegs = statement({
  name: 'legs_open_list',
  parameters: { limit: 'int8' },
  columns: {
    order_id: 'text',
    leg: 'text',
    session_id: 'text',
    merchant_id: 'text',
    chain_id: 'int8',
    status: 'text',
    reason: 'text',
    attempts: 'int4',
    net_value: 'int8',
    created_at: 'timestamptz',
    retry_at: 'timestamptz',
    held_at: 'timestamptz?',
    released_at: 'timestamptz?',
  },
  text: `select l.order_id, l.leg, l.session_id, s.merchant_id, l.chain_id, l.status, l.reason, l.attempts, o.net_value, l.created_at,
     l.retry_at, l.held_at, l.released_at
   from settlements l join orders o on o.order_id = l.order_id join sessions s on s.session_id = l.session_id
   where l.status <> 'done' and l.reason <> '' order by l.created_at, l.order_id limit :limit`,
});

// Makes the legs due at once; the operator's caps no longer hold them.
export const releaseLegs = statement({
  name: 'legs_release',
  parameters: { orderId: 'text', releasedAt: 'timestamptz' },
  columns: { leg: 'text', chain_id: 'int8', was_held: 'bool?' },
  text: `update settlements set released_at = :releasedAt, retry_at = :releasedAt, updated_at = :releasedAt
   where order_id = :orderId and status = 'waiting' returning leg, chain_id, held_at is not null as was_held`,
});
