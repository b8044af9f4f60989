import { statement } from '@florin/pg';

// The partial index of open sessions and the queue of the sealer keep these counts small.
export const openCounts = statement({
  name: 'work_open_counts',
  parameters: { leader: 'text', limit: 'int8' },
  columns: { led: 'int8[]', sessions: 'int8', unsealed: 'int8' },
  text: `select array(select chain_id from chain_cursors where leader_id = :leader and leader_id <> '') as led,
     (select count(*) from (select from sessions where status = 'initialized' limit :limit) as open) as sessions,
     (select count(*) from (select from ledger_unsealed limit :limit) as waiting) as unsealed`,
});
