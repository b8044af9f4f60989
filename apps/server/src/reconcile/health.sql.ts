import { statement } from '@florin/pg';

export const healthCursors = statement({
  name: 'health_cursors',
  parameters: {},
  columns: {
    chain_id: 'int8',
    head_number: 'int8',
    head_time: 'timestamptz',
    final_number: 'int8',
    final_time: 'timestamptz',
    halted_reason: 'text',
  },
  text: `select chain_id, head_number, head_time, final_number, final_time, halted_reason from chain_cursors`,
});

/** Transactions in no final block yet, each with its latest attempt: later attempts always offer more. */
export const unfinishedTransactions = statement({
  name: 'health_unfinished_transactions',
  parameters: { limit: 'int8' },
  columns: {
    chain_id: 'int8',
    wallet: 'text',
    nonce: 'int8',
    purpose: 'text',
    mined_hash: 'text',
    created_at: 'timestamptz',
    attempts: 'int8',
    last_hash: 'text',
    max_fee: 'numeric',
  },
  text: `select t.chain_id, t.wallet, t.nonce, t.purpose, t.mined_hash, t.created_at,
     (select count(*) from sent_attempts a where a.transaction_id = t.transaction_id) as attempts,
     last.tx_hash as last_hash, last.max_fee
   from sent_transactions t join lateral (
     select tx_hash, max_fee from sent_attempts a where a.transaction_id = t.transaction_id
     order by max_fee desc limit 1) as last on true
   where t.status = 'pending' order by t.created_at, t.transaction_id limit :limit`,
});

// The partial indexes of what is open keep these counts small.
export const openWork = statement({
  name: 'health_open_work',
  parameters: { now: 'timestamptz' },
  columns: {
    waiting: 'int8',
    overdue: 'int8',
    oldest: 'timestamptz?',
    paused_webhooks: 'int8',
    open_exceptions: 'int8',
  },
  text: `select d.waiting, d.overdue, d.oldest,
     (select count(*) from webhooks where status = 'paused') as paused_webhooks,
     (select count(*) from exceptions where status = 'open') as open_exceptions
   from (select count(*) as waiting, count(*) filter (where next_attempt_at <= :now) as overdue,
     min(next_attempt_at) as oldest from deliveries where status = 'pending') as d`,
});

export const databaseVersion = statement({
  name: 'health_database_version',
  parameters: {},
  columns: { version: 'text' },
  text: `select current_setting('server_version') as version`,
});

export const appliedMigrations = statement({
  name: 'health_migrations',
  parameters: {},
  columns: { version: 'int4', applied_at: 'timestamptz' },
  text: 'select version, applied_at from schema_migrations order by version desc',
});
