import { statement } from '@florin/pg';

// A block's reaction locks its chain's cursor first, and then sessions. A reaction that waited for a session while it moves
// would not find it, and its payment would be one of an unknown order. So no block is stored while sessions move.
export const lockCursors = statement({
  name: 'archive_cursors_lock',
  columns: { chain_id: 'int8' },
  text: 'select chain_id from chain_cursors order by chain_id for update',
});

/**
 * Moves the sessions that ended longest ago, and returns how many. Sessions stay whose money is not at rest: with an open
 * exception, money seen at a deposit address, or a transaction of ours under way. skip locked: a session in use is not over.
 */
export const moveEnded = statement({
  name: 'archive_move',
  parameters: { unpaidBefore: 'timestamptz', paidBefore: 'timestamptz', limit: 'int8' },
  columns: { moved: 'int8' },
  // All columns: one that a later migration adds must not be lost here. Both tables have them in the same order.
  text: `with unpaid as materialized (
     select session_id from only sessions s
     where status in ('expired', 'cancelled') and updated_at < :unpaidBefore and ${isAtRest('s')}
     order by updated_at limit :limit for update skip locked
   ), paid as materialized (
     select session_id from only sessions s
     where status = 'completed' and updated_at < :paidBefore and ${isAtRest('s')}
     order by updated_at limit :limit for update skip locked
   ), gone as (
     delete from only sessions where session_id in (select session_id from unpaid union all select session_id from paid)
     returning *
   ), kept as (
     insert into sessions_archive select * from gone returning session_id
   )
   select count(*) as moved from kept`,
});

function isAtRest(session: string): string {
  return `not exists (
       select from orders o
       where o.session_id = ${session}.session_id and (
         exists (select from deposit_sightings d where d.order_id = o.order_id)
         or exists (select from deposit_moves m where m.order_id = o.order_id and m.status = 'sent')
         or exists (select from submissions m where m.order_id = o.order_id and m.status = 'sent')
         or exists (select from exceptions e where e.order_id = o.order_id and e.status = 'open')))`;
}
