import { statement } from '@florin/pg';

export const leaderOfChain = statement({
  name: 'leader_of_chain',
  parameters: { chainId: 'int8' },
  columns: { leader_id: 'text', leader_term: 'int8', leader_beat: 'int8' },
  text: 'select leader_id, leader_term, leader_beat from chain_cursors where chain_id = :chainId',
});

// Compare-and-set on the leader as read: of two processes that want to lead, the second one fails.
export const acquireLeadership = statement({
  name: 'leader_take',
  parameters: { chainId: 'int8', leaderTerm: 'int8', leaderBeat: 'int8', leaderId: 'text' },
  columns: { leader_term: 'int8' },
  text: `update chain_cursors set leader_id = :leaderId, leader_term = leader_term + 1, leader_beat = 0
   where chain_id = :chainId and leader_term = :leaderTerm and leader_beat = :leaderBeat returning leader_term`,
});

export const renewLeadership = statement({
  name: 'leader_beat',
  parameters: { chainId: 'int8', leaderTerm: 'int8' },
  columns: { leader_beat: 'int8' },
  text: `update chain_cursors set leader_beat = leader_beat + 1
   where chain_id = :chainId and leader_term = :leaderTerm returning leader_beat`,
});

export const releaseLeadership = statement({
  name: 'leader_release',
  parameters: { chainId: 'int8', leaderTerm: 'int8' },
  text: `update chain_cursors set leader_id = '' where chain_id = :chainId and leader_term = :leaderTerm`,
});
