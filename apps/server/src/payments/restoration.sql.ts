import { statement } from '@florin/pg';

export const newestRestoration = statement({
  name: 'restoration_newest',
  columns: { taken_at: 'timestamptz', restored_at: 'timestamptz', archive_hash: 'text', cursors: 'jsonb' },
  text: `select taken_at, restored_at, archive_hash, cursors from restorations order by restoration_id desc limit 1`,
});

export const chainsAfterRestoration = statement({
  name: 'restoration_chains',
  columns: {
    chain_id: 'int8',
    head_number: 'int8',
    final_number: 'int8',
    halted_reason: 'text',
    stopped_reason: 'text',
  },
  text: `select chain_id, head_number, final_number, halted_reason, stopped_reason from chain_cursors order by chain_id`,
});

// Sessions that were paid or settled between backup and restore: the events of those blocks move them again.
export const rebuiltSince = statement({
  name: 'restoration_rebuilt',
  parameters: { since: 'timestamptz', until: 'timestamptz' },
  columns: { sessions_paid: 'int8', sessions_completed: 'int8', events: 'int8', waiting: 'int8' },
  text: `select
     (select count(*) from sessions where payment_succeeded_at between :since and :until) as sessions_paid,
     (select count(*) from sessions where settlement_succeeded_at between :since and :until) as sessions_completed,
     (select count(*) from chain_events where block_time between :since and :until) as events,
     (select count(*) from deliveries where status = 'pending') as waiting`,
});

// Keys that worked when the backup was taken. One that was revoked later works again.
export const liveKeys = statement({
  name: 'restoration_live_keys',
  parameters: { takenAt: 'timestamptz' },
  columns: { live_keys: 'int8' },
  text: `select count(*) as live_keys from api_keys
   where revoked_at is null and created_at <= :takenAt and (expires_at is null or expires_at > :takenAt)`,
});
