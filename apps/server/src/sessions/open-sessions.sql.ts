import { statement } from '@florin/pg';

// The index of sessions that expire has those that are open, and no others.
export const openSettlingIn = statement({
  name: 'sessions_open_settling_in',
  parameters: { tokenIds: 'text[]' },
  columns: { sessions: 'int8' },
  text: `select count(*) as sessions from sessions where status = 'initialized' and settlement_token = any (:tokenIds)`,
});
