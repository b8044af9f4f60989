import { statement } from '@florin/pg';

export const presentTimeline = statement({
  name: 'timeline_present',
  columns: { system_identifier: 'text', timeline: 'text' },
  text: `select system_identifier::text, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) as timeline from pg_control_system()`,
});

// Locked, so that one of several processes notes a change.
export const knownTimeline = statement({
  name: 'timeline_known',
  columns: { system_identifier: 'text', timeline: 'text', beat: 'int8', seen_at: 'timestamptz' },
  text: 'select system_identifier, timeline, beat, seen_at from database_timeline for update',
});

export const noteTimeline = statement({
  name: 'timeline_note',
  parameters: { systemIdentifier: 'text', timeline: 'text', beat: 'int8', seenAt: 'timestamptz' },
  columns: { beat: 'int8' },
  text: `insert into database_timeline as t (system_identifier, timeline, beat, seen_at)
   values (:systemIdentifier, :timeline, :beat, :seenAt)
   on conflict (is_only) do update set system_identifier = excluded.system_identifier, timeline = excluded.timeline,
     beat = greatest(t.beat, excluded.beat) + 1, seen_at = excluded.seen_at
   returning t.beat`,
});

export const noteChangedHistory = statement({
  name: 'timeline_restoration',
  parameters: { takenAt: 'timestamptz', restoredAt: 'timestamptz' },
  text: `insert into restorations (taken_at, restored_at, archive_hash, cursors)
   select :takenAt, :restoredAt, '', coalesce(jsonb_agg(jsonb_build_object('chainId', chain_id,
     'headNumber', head_number::text, 'finalNumber', final_number::text) order by chain_id), '[]') from chain_cursors`,
});

/** After a restore nothing is settled until books and chain agree again. */
export const stopAllChains = statement({
  name: 'timeline_stop_chains',
  text: `update chain_cursors set stopped_reason = case when stopped_reason = 'drift' then 'drift' else 'restored' end`,
});

export const checkAllChains = statement({
  name: 'timeline_check_chains',
  parameters: { now: 'timestamptz' },
  text: 'update chain_reconciliations set catch_up_number = null, next_at = :now',
});
