import { statement } from '@florin/pg';

export const tokenStops = statement({
  name: 'token_stops',
  columns: { token_id: 'text', reason: 'text', stopped_at: 'timestamptz' },
  text: 'select token_id, reason, stopped_at from token_stops order by token_id',
});

// The first stop keeps its time; a later one may say more.
export const insertTokenStops = statement({
  name: 'token_stops_insert',
  parameters: { tokenIds: 'text[]', reason: 'text', at: 'timestamptz' },
  text: `insert into token_stops (token_id, reason, stopped_at)
   select token_id, :reason, :at from unnest(:tokenIds::text[]) as stopped (token_id)
   on conflict (token_id) do update set reason = excluded.reason`,
});

export const deleteTokenStops = statement({
  name: 'token_stops_delete',
  parameters: { tokenIds: 'text[]' },
  text: 'delete from token_stops where token_id = any (:tokenIds)',
});
