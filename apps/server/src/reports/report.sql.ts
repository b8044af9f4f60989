import { type Row, statement } from '@florin/pg';

const columns = {
  report_id: 'text',
  merchant_id: 'text',
  report_type: 'text',
  format: 'text',
  account_id: 'text',
  from_time: 'timestamptz',
  to_time: 'timestamptz',
  secret: 'text',
  status: 'text',
  reason: 'text',
  done_to: 'int8',
  last_ordinal: 'int8',
  piece_count: 'int4',
  failed_attempts: 'int4',
  row_count: 'int8',
  total_value: 'numeric',
  fee_value: 'numeric',
  net_value: 'numeric',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
} as const;
const columnList = Object.keys(columns).join(', ');

// Sessions and refunds have their own ordinals. Rows that are written later are no part of the report.
export const insertReport = statement({
  name: 'report_insert',
  parameters: {
    reportId: 'text',
    merchantId: 'text',
    reportType: 'text',
    format: 'text',
    accountId: 'text',
    fromTime: 'timestamptz',
    toTime: 'timestamptz',
    secret: 'text',
    createdAt: 'timestamptz',
    expiresAt: 'timestamptz',
  },
  text: `insert into reports (report_id, merchant_id, report_type, format, account_id, from_time, to_time, secret, status,
     last_ordinal, created_at, expires_at)
   values (:reportId, :merchantId, :reportType, :format, :accountId, :fromTime, :toTime, :secret, 'pending',
     coalesce(case when :reportType = 'refunds'
       then (select max(ordinal) from refunds where merchant_id = :merchantId)
       else (select max(ordinal) from sessions where merchant_id = :merchantId) end, 0), :createdAt, :expiresAt)`,
});

export const countPending = statement({
  name: 'report_count_pending',
  parameters: { merchantId: 'text' },
  columns: { pending: 'int8' },
  text: `select count(*) as pending from reports where merchant_id = :merchantId and status = 'pending'`,
});

export const reportById = statement({
  name: 'report_by_id',
  parameters: { reportId: 'text', now: 'timestamptz' },
  columns,
  text: `select ${columnList} from reports where report_id = :reportId and expires_at > :now`,
});
export type ReportRow = Row<typeof reportById>;

// The lock is the lease: another worker takes another report, and a killed one frees its report.
export const lockNextReport = statement({
  name: 'report_lock_next',
  parameters: { now: 'timestamptz' },
  columns,
  text: `select ${columnList} from reports where status = 'pending' and expires_at > :now
   order by failed_attempts, created_at limit 1 for update skip locked`,
});

export const updateReport = statement({
  name: 'report_update',
  parameters: {
    reportId: 'text',
    status: 'text',
    reason: 'text',
    doneTo: 'int8',
    pieceCount: 'int4',
    rowCount: 'int8',
    totalValue: 'numeric',
    feeValue: 'numeric',
    netValue: 'numeric',
  },
  text: `update reports set status = :status, reason = :reason, done_to = :doneTo, piece_count = :pieceCount,
     row_count = :rowCount, total_value = :totalValue, fee_value = :feeValue, net_value = :netValue
   where report_id = :reportId and status = 'pending'`,
});

export const noteReportFailure = statement({
  name: 'report_note_failure',
  parameters: { reportId: 'text' },
  columns: { failed_attempts: 'int4' },
  text: `update reports set failed_attempts = failed_attempts + 1 where report_id = :reportId returning failed_attempts`,
});

export const insertPiece = statement({
  name: 'report_insert_piece',
  parameters: { reportId: 'text', merchantId: 'text', position: 'int4', body: 'text' },
  text: `insert into report_pieces (report_id, merchant_id, position, body)
   values (:reportId, :merchantId, :position, :body)`,
});

export const pieceAt = statement({
  name: 'report_piece_at',
  parameters: { reportId: 'text', position: 'int4' },
  columns: { body: 'text' },
  text: 'select body from report_pieces where report_id = :reportId and position = :position',
});

export const deleteExpired = statement({
  name: 'report_delete_expired',
  parameters: { now: 'timestamptz', limit: 'int8' },
  columns: { report_id: 'text' },
  text: `delete from reports where report_id in (
     select report_id from reports where expires_at <= :now order by expires_at limit :limit for update skip locked)
   returning report_id`,
});

const windowParameters = {
  merchantId: 'text',
  accountId: 'text',
  fromTime: 'timestamptz',
  toTime: 'timestamptz',
  doneTo: 'int8',
  lastOrdinal: 'int8',
  limit: 'int8',
} as const;

const sessionRows = {
  reached: 'int8?',
  /** False in the row of a window that holds nothing else. */
  is_meant: 'bool',
  session_id: 'text',
  receipt_id: 'text',
  order_id: 'text',
  account_id: 'text',
  business_id: 'text',
  at: 'timestamptz?',
  payer: 'text',
  paid_token: 'text',
  settlement_token: 'text',
  recipient: 'text',
  fee_model: 'int4',
  refunded_amount: 'int8',
  initiate_tx: 'text',
  complete_tx: 'text',
  paid_amount: 'numeric',
  total_value: 'int8',
  fee_value: 'int8',
  net_value: 'int8',
} as const;

/**
 * The next sessions of the merchant in the order of creation, and those of them that are in the report. One row at least
 * says how far it looked; `reached` is null at the end.
 */
function sessionsText(time: string): string {
  return `with looked as materialized (
     select session_id, receipt_id, order_id, account_id, business_id, ${time} as at, payer, paid_token, settlement_token,
       recipient, fee_model, refunded_amount, initiate_tx, complete_tx, pending_reason, ordinal
     from sessions where merchant_id = :merchantId and ordinal > :doneTo and ordinal <= :lastOrdinal
     order by ordinal limit :limit
   ), meant as (
     select l.*, o.total - o.added as paid_amount, o.total_value, o.fee_value, o.net_value from looked l join orders o on o.order_id = l.order_id
     where l.at >= :fromTime and l.at < :toTime and l.pending_reason <> 'payment_reorged' and (:accountId = '' or l.account_id = :accountId)
   )
   select edge.reached, meant.session_id is not null as is_meant, meant.session_id, meant.receipt_id, meant.order_id, meant.account_id, meant.business_id, meant.at,
     meant.payer, meant.paid_token, meant.settlement_token, meant.recipient, meant.fee_model, meant.refunded_amount,
     meant.initiate_tx, meant.complete_tx, meant.paid_amount, meant.total_value, meant.fee_value, meant.net_value
   from (select max(ordinal) as reached from looked) as edge left join meant on true order by meant.ordinal`;
}

export const paidSessions = statement({
  name: 'report_paid_sessions',
  parameters: windowParameters,
  columns: sessionRows,
  text: sessionsText('payment_succeeded_at'),
});

export const settledSessions = statement({
  name: 'report_settled_sessions',
  parameters: windowParameters,
  columns: sessionRows,
  text: sessionsText('settlement_succeeded_at'),
});

// Payments are those that paid their sessions: a second one is in no report, and so is its return.
export const completedRefunds = statement({
  name: 'report_refunds',
  parameters: windowParameters,
  columns: {
    reached: 'int8?',
    is_meant: 'bool',
    refund_id: 'text',
    session_id: 'text',
    order_id: 'text',
    account_id: 'text',
    at: 'timestamptz',
    amount: 'int8',
    reason: 'text',
    tx_hash: 'text',
  },
  text: `with looked as materialized (
     select refund_id, session_id, order_id, status, updated_at as at, amount, reason, tx_hash, ordinal
     from refunds where merchant_id = :merchantId and ordinal > :doneTo and ordinal <= :lastOrdinal
     order by ordinal limit :limit
   ), meant as (
     select l.*, s.account_id from looked l join sessions s on s.session_id = l.session_id and s.order_id = l.order_id
     where l.status = 'completed' and l.at >= :fromTime and l.at < :toTime
       and (:accountId = '' or s.account_id = :accountId)
   )
   select edge.reached, meant.refund_id is not null as is_meant, meant.refund_id, meant.session_id, meant.order_id, meant.account_id, meant.at, meant.amount,
     meant.reason, meant.tx_hash
   from (select max(ordinal) as reached from looked) as edge left join meant on true order by meant.ordinal`,
});

export const needsAttention = statement({
  name: 'report_attention',
  parameters: { merchantId: 'text', now: 'timestamptz', expireBefore: 'timestamptz' },
  columns: { kind: 'text', total: 'int8', ids: 'text[]' },
  text: `select kind, count(*) as total, (array_agg(id order by since))[1:20] as ids from (
     select 'exceptions' as kind, exception_id as id, created_at as since
     from exceptions where merchant_id = :merchantId and status = 'open'
     union all
     select 'undecided', exception_id, decide_by
     from exceptions where merchant_id = :merchantId and status = 'open' and decision = '' and decide_by >= :now
     union all
     select 'webhooks', webhook_id, created_at from webhooks where merchant_id = :merchantId and status = 'paused'
     union all
     select case when pending_reason = 'payment_reorged' then 'lost' else 'settlements' end, session_id, updated_at from sessions
     where merchant_id = :merchantId and status = 'settlement_pending'
     union all
     select 'keys', key_id, expires_at from api_keys
     where merchant_id = :merchantId and revoked_at is null and expires_at > :now and expires_at <= :expireBefore
   ) as found group by kind order by kind`,
});
