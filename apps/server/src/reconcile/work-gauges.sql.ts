import { statement } from '@florin/pg';

// The partial index of open sessions and the queue of the sealer keep these counts small. The row is there also while this
// process leads no chain.
export const openCounts = statement({
  name: 'work_open_counts',
  parameters: { leader: 'text', limit: 'int8' },
  columns: { led: 'int8?', sessions: 'int8', unsealed: 'int8' },
  text: `select c.chain_id as led, s.sessions, l.unsealed
   from (select count(*) as sessions from (select from sessions where status = 'initialized' limit :limit) as open) as s
     cross join (select count(*) as unsealed from (select from ledger_unsealed limit :limit) as waiting) as l
     left join chain_cursors c on c.leader_id = :leader and :leader <> ''`,
});
