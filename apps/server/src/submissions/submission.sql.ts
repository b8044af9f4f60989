import { type Row, statement } from '@florin/pg';
import { awaitLockOf } from '#db/advisory-lock.ts';
import { sentHash } from './sent-hash.ts';

const columns = {
  order_id: 'text',
  session_id: 'text',
  chain_id: 'int8',
  status: 'text',
  transaction_id: 'int8',
} as const;

const prefixed = Object.keys(columns)
  .map((column) => `s.${column}`)
  .join(', ');

export const submissionByOrder = statement(
  'submission_by_order',
  ['text'],
  { ...columns, tx_hash: 'text' },
  `select ${prefixed}, ${sentHash('s')} as tx_hash from submissions s where s.order_id = $1`,
);
export type SubmissionRow = Row<typeof submissionByOrder>;

// A submission that is still under way may pay the session.
export const openSubmissions = statement(
  'submission_open',
  ['text'],
  { order_id: 'text' },
  `select order_id from submissions where session_id = $1 and status = 'sent'`,
);

// The service paid for each, so a session has few, regardless of how many orders were prepared.
export const submittedOrders = statement(
  'submission_orders',
  ['text', 'int8'],
  { order_id: 'text' },
  'select order_id from submissions where session_id = $1 order by created_at desc, order_id limit $2',
);

// A failed submission may be sent again; any other stays as it is. Its gas counts from the new attempt on, plus the gas
// of the attempts in the 24 hours before ($11).
export const insertSubmission = statement(
  'submission_insert',
  [
    ...(['text', 'text', 'int8', 'text', 'text', 'text', 'text', 'int8', 'int8', 'timestamptz'] as const),
    'timestamptz',
    'bool',
  ],
  { order_id: 'text' },
  `insert into submissions (order_id, session_id, chain_id, method, payer, seller, network, gas_limit, status,
     transaction_id, created_at, updated_at, is_smart_account)
   values ($1, $2, $3, $4, $5, $6, $7, $8, 'sent', $9, $10, $10, $12)
   on conflict (order_id) do update set method = $4, network = $7, created_at = $10,
     gas_limit = $8::int8 + case when submissions.created_at > $11 then submissions.gas_limit else 0 end, status = 'sent', transaction_id = $9, updated_at = $10, is_smart_account = $12
   where submissions.status = 'failed'
   returning order_id`,
);

// Serializes submissions that share a budget until their transactions end, so that the sums below are complete. All
// processes lock in the same order, so that two with several shared budgets cannot deadlock.
export const lockBudgets = statement(
  'submission_lock_budgets',
  ['text[]'],
  { locked: 'bool?' },
  `select true as locked from (
     select key from unnest($1::text[]) with ordinality as given (key, place) order by place) as keys,
     lateral (select ${awaitLockOf('gasBudget', 'keys.key')}) as lock`,
);

export const spentGas = statement(
  'submission_spent_gas',
  ['text', 'text', 'text', 'timestamptz'],
  { payer: 'int8', seller: 'int8', network: 'int8' },
  `select
     (select coalesce(sum(gas_limit), 0)::int8 from submissions where payer = $1 and created_at > $4) as payer,
     (select coalesce(sum(gas_limit), 0)::int8 from submissions where seller = $2 and created_at > $4) as seller,
     (select coalesce(sum(gas_limit), 0)::int8 from submissions where network = $3 and created_at > $4) as network`,
);

// Reverted payments of payers with code: of one account, and of a merchant's payers including those that may still
// revert. A payment whose session is paid will not revert.
export const smartAccountFailures = statement(
  'submission_smart_account_failures',
  ['text', 'text', 'timestamptz'],
  { by_payer: 'int8', by_merchant: 'int8' },
  `select count(*) filter (where s.payer = $1 and t.status = 'failed') as by_payer,
     count(*) filter (where n.merchant_id = $2) as by_merchant
   from submissions s
     join sent_transactions t on t.transaction_id = s.transaction_id
     join sessions n on n.session_id = s.session_id
   where s.is_smart_account and s.created_at > $3 and (s.payer = $1 or n.merchant_id = $2)
     and (t.status = 'failed' or s.status = 'sent' and n.order_id is distinct from s.order_id)`,
);

export const concludeSubmission = statement(
  'submission_conclude',
  ['int8', 'text', 'timestamptz'],
  {},
  `update submissions set status = $2, updated_at = $3 where transaction_id = $1 and status = 'sent'`,
);

// Their transactions are pending again: a success may turn into a failure.
export const reopenSubmissions = statement(
  'submission_reopen',
  ['int8[]', 'timestamptz'],
  {},
  `update submissions s set status = 'sent', updated_at = $2
   from (
     select order_id from submissions where transaction_id = any ($1) and status = 'succeeded'
     order by order_id for update) as found
   where s.order_id = found.order_id`,
);

// Submissions of wallets that no longer exist here, so their outcome will never be reported. Excludes x402: its client
// would pay again, for another order, while the first payment may still be mined. Rows are locked in one order, so that
// two processes cannot deadlock.
export const releaseSubmissions = statement(
  'submission_release',
  ['text[]', 'timestamptz', 'timestamptz'],
  { order_id: 'text' },
  `update submissions s set status = 'failed', updated_at = $3
   from (
     select s.order_id from submissions s join sent_transactions t on t.transaction_id = s.transaction_id
     where s.status = 'sent' and s.method <> 'x402' and s.updated_at < $2
       and t.status = 'pending' and t.wallet <> all ($1)
     order by s.order_id for update of s) as found
   where s.order_id = found.order_id
   returning s.order_id`,
);

// The newest orders first: a payer pays soon after preparing. The limit bounds the work that strangers can cause.
export const recentOrders = statement(
  'submission_recent_orders',
  ['text', 'int8'],
  { order_id: 'text' },
  // An order without a signature belongs to a late deposit. Only its collection may pay it.
  `select order_id from orders where session_id = $1 and signature <> '0x'
   order by created_at desc, order_id limit $2`,
);
