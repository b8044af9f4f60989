import { statement } from '@florin/pg';

// For people: what waits longer than the usual, whose reason says why; the longest first.
export const openLegs = statement(
  'legs_open_list',
  ['int8'],
  {
    order_id: 'text',
    leg: 'text',
    session_id: 'text',
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
  `select l.order_id, l.leg, l.session_id, l.chain_id, l.status, l.reason, l.attempts, o.net_value, l.created_at,
     l.retry_at, l.held_at, l.released_at
   from settlements l join orders o on o.order_id = l.order_id
   where l.status <> 'done' and l.reason <> '' order by l.created_at, l.order_id limit $1`,
);

// Due at once, and no cap of the operator's holds it any more.
export const releaseLegs = statement(
  'legs_release',
  ['text', 'timestamptz'],
  { leg: 'text', chain_id: 'int8', was_held: 'bool?' },
  `update settlements set released_at = $2, retry_at = $2, updated_at = $2
   where order_id = $1 and status = 'waiting' returning leg, chain_id, held_at is not null as was_held`,
);
