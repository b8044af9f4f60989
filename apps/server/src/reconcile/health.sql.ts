import { statement } from '@florin/pg';
import { attemptColumnList, attemptColumns, latestAttempts } from './work.sql.ts';

export const healthCursors = statement({
  name: 'health_cursors',
  columns: {
    chain_id: 'int8',
    head_number: 'int8',
    head_time: 'timestamptz',
    final_number: 'int8',
    final_time: 'timestamptz',
    halted_reason: 'text',
    is_resync_due: 'bool',
    updated_at: 'timestamptz',
  },
  text: `select chain_id, head_number, head_time, final_number, final_time, halted_reason, is_resync_due, updated_at
   from chain_cursors`,
});

/** Transactions in no final block yet, each with its latest attempts: later ones always offer more. */
export const unfinishedTransactions = statement({
  name: 'health_unfinished_transactions',
  parameters: { limit: 'int8', attemptLimit: 'int8' },
  columns: {
    chain_id: 'int8',
    wallet: 'text',
    nonce: 'int8',
    purpose: 'text',
    mined_hash: 'text',
    created_at: 'timestamptz',
    ...attemptColumns,
  },
  text: `select t.chain_id, t.wallet, t.nonce, t.purpose, t.mined_hash, t.created_at,
     ${attemptColumnList}
   from sent_transactions t join ${latestAttempts}
   where t.status = 'pending' order by t.created_at, t.transaction_id limit :limit`,
});

// The partial indexes of what is open keep these counts small.
export const openWork = statement({
  name: 'health_open_work',
  parameters: { now: 'timestamptz', failingSince: 'timestamptz', returnedSince: 'timestamptz' },
  columns: {
    waiting: 'int8',
    overdue: 'int8',
    oldest: 'timestamptz?',
    paused_webhooks: 'int8',
    failing_webhooks: 'int8',
    open_exceptions: 'int8',
    exceptions_for_people: 'int8',
  },
  text: `select d.waiting, d.overdue, d.oldest,
     w.paused_webhooks, w.failing_webhooks,
     e.open_exceptions, e.exceptions_for_people
   from (select count(*) as waiting, count(*) filter (where next_attempt_at <= :now) as overdue,
     min(next_attempt_at) as oldest from deliveries where status = 'pending') as d,
     (select count(*) as open_exceptions, count(*) filter (where kind = 'duplicate_settled'
       or decision = '' and decide_by >= :now or created_at < :returnedSince) as exceptions_for_people
     from exceptions where status = 'open') as e,
     (select count(*) filter (where status = 'paused') as paused_webhooks,
       count(*) filter (where status = 'active' and first_failure_at < :failingSince) as failing_webhooks from webhooks) as w`,
});

/** Webhooks that are paused or have deliveries that wait: paused ones first, then those with the longest line. */
export const webhookBacklogs = statement({
  name: 'health_webhook_backlogs',
  parameters: { now: 'timestamptz', limit: 'int8' },
  columns: {
    webhook_id: 'text',
    merchant_id: 'text',
    merchant_name: 'text',
    webhook_url: 'text',
    status: 'text',
    consecutive_failures: 'int4',
    first_failure_at: 'timestamptz?',
    waiting: 'int8',
    overdue: 'int8',
    oldest: 'timestamptz?',
  },
  text: `with line as (
     select webhook_id, count(*) as waiting, count(*) filter (where next_attempt_at <= :now) as overdue,
       min(created_at) as oldest
     from deliveries where status = 'pending' group by webhook_id)
   select w.webhook_id, w.merchant_id, m.merchant_name, w.webhook_url, w.status, w.consecutive_failures,
     w.first_failure_at, coalesce(line.waiting, 0) as waiting, coalesce(line.overdue, 0) as overdue, line.oldest
   from webhooks w join merchants m on m.merchant_id = w.merchant_id
   left join line on line.webhook_id = w.webhook_id
   where w.status = 'paused' or line.waiting > 0
   order by w.status = 'paused' desc, line.waiting desc nulls last, w.webhook_id limit :limit`,
});

export const databaseVersion = statement({
  name: 'health_database_version',
  columns: { version: 'text' },
  text: `select current_setting('server_version') as version`,
});

export const appliedMigrations = statement({
  name: 'health_migrations',
  columns: { version: 'int4', applied_at: 'timestamptz' },
  text: 'select version, applied_at from schema_migrations order by version desc',
});
