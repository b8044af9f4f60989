import { statement } from '@florin/pg';

export const leaderOfChain = statement(
  'leader_of_chain',
  ['int8'],
  { leader_id: 'text', leader_term: 'int8', leader_beat: 'int8' },
  'select leader_id, leader_term, leader_beat from chain_cursors where chain_id = $1',
);

// Compare-and-set on what was seen: of two that want to lead, one finds that it came second.
export const takeLead = statement(
  'leader_take',
  ['int8', 'int8', 'int8', 'text'],
  { leader_term: 'int8' },
  `update chain_cursors set leader_id = $4, leader_term = leader_term + 1, leader_beat = 0
   where chain_id = $1 and leader_term = $2 and leader_beat = $3 returning leader_term`,
);

export const beatLead = statement(
  'leader_beat',
  ['int8', 'int8'],
  { leader_beat: 'int8' },
  `update chain_cursors set leader_beat = leader_beat + 1
   where chain_id = $1 and leader_term = $2 returning leader_beat`,
);

export const releaseLead = statement(
  'leader_release',
  ['int8', 'int8'],
  {},
  `update chain_cursors set leader_id = '' where chain_id = $1 and leader_term = $2`,
);
