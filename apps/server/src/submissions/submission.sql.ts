import { type Row, statement } from '@florin/pg';
import { sqlMove } from '@florin/protocol/machine.ts';
import { awaitLockOf } from '#db/advisory-lock.ts';
import { sentHash } from './sent-hash.ts';
import { submissionMoves } from './submission.machine.ts';

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

export const submissionByOrder = statement({
  name: 'submission_by_order',
  parameters: { orderId: 'text' },
  columns: { ...columns, tx_hash: 'text' },
  text: `select ${prefixed}, ${sentHash('s')} as tx_hash from submissions s where s.order_id = :orderId`,
});
export type SubmissionRow = Row<typeof submissionByOrder>;

// A submission that is still under way may pay the session.
export const openSubmissions = statement({
  name: 'submission_open',
  parameters: { sessionId: 'text' },
  columns: { order_id: 'text' },
  text: `select order_id from submissions where session_id = :sessionId and status = 'sent'`,
});

// The service paid for each, so a session has few, regardless of how many orders were prepared.
const repeated = sqlMove(submissionMoves, 'repeated');
// A failed submission may be sent again; any other stays as it is. Its gas counts from the new attempt on, plus the gas
// of the attempts in the 24 hours before ($11).
export const insertSubmission = statement({
  name: 'submission_insert',
  parameters: {
    orderId: 'text',
    sessionId: 'text',
    chainId: 'int8',
    method: 'text',
    payer: 'text',
    seller: 'text',
    network: 'text',
    gasLimit: 'int8',
    transactionId: 'int8',
    createdAt: 'timestamptz',
    gasSince: 'timestamptz',
    isSmartAccount: 'bool',
  },
  columns: { order_id: 'text' },
  text: `insert into submissions (order_id, session_id, chain_id, method, payer, seller, network, gas_limit, status,
     transaction_id, created_at, updated_at, is_smart_account)
   values (:orderId, :sessionId, :chainId, :method, :payer, :seller, :network, :gasLimit, 'sent', :transactionId, :createdAt, :createdAt, :isSmartAccount)
   on conflict (order_id) do update set method = :method, network = :network, created_at = :createdAt,
     gas_limit = :gasLimit::int8 + case when submissions.created_at > :gasSince then submissions.gas_limit else 0 end, status = ${repeated.to}, transaction_id = :transactionId, updated_at = :createdAt, is_smart_account = :isSmartAccount
   where submissions.status in (${repeated.from})
   returning order_id`,
});

// Serializes submissions that share a budget until their transactions end, so that the sums below are complete. All
// processes lock in the same order, so that two with several shared budgets cannot deadlock.
export const lockBudgets = statement({
  name: 'submission_lock_budgets',
  parameters: { keys: 'text[]' },
  columns: { locked: 'bool?' },
  text: `select true as locked from (
     select key from unnest(:keys::text[]) with ordinality as given (key, place) order by place) as keys,
     lateral (select ${awaitLockOf('gasBudget', 'keys.key')}) as lock`,
});

export const selectSpentGas = statement({
  name: 'submission_spent_gas',
  parameters: { payer: 'text', seller: 'text', network: 'text', since: 'timestamptz' },
  columns: { payer: 'int8', seller: 'int8', network: 'int8' },
  text: `select
     (select coalesce(sum(gas_limit), 0)::int8 from submissions where payer = :payer and created_at > :since) as payer,
     (select coalesce(sum(gas_limit), 0)::int8 from submissions where seller = :seller and created_at > :since) as seller,
     (select coalesce(sum(gas_limit), 0)::int8 from submissions where network = :network and created_at > :since) as network`,
});

// Reverted payments of payers with code: of one account, and of a merchant's payers including those that may still
// revert. A payment whose session is paid will not revert.
export const smartAccountFailures = statement({
  name: 'submission_smart_account_failures',
  parameters: { payer: 'text', merchantId: 'text', since: 'timestamptz' },
  columns: { by_payer: 'int8', by_merchant: 'int8' },
  text: `select count(*) filter (where s.payer = :payer and t.status = 'failed') as by_payer,
     count(*) filter (where n.merchant_id = :merchantId) as by_merchant
   from submissions s
     join sent_transactions t on t.transaction_id = s.transaction_id
     join sessions n on n.session_id = s.session_id
   where s.is_smart_account and s.created_at > :since and (s.payer = :payer or n.merchant_id = :merchantId)
     and (t.status = 'failed' or s.status = 'sent' and n.order_id is distinct from s.order_id)`,
});

const succeeded = sqlMove(submissionMoves, 'transaction_succeeded');
export const succeedSubmission = statement({
  name: 'submission_succeed',
  parameters: { transactionId: 'int8', updatedAt: 'timestamptz' },
  text: `update submissions set status = ${succeeded.to}, updated_at = :updatedAt
   where transaction_id = :transactionId and status in (${succeeded.from})`,
});

const failed = sqlMove(submissionMoves, 'transaction_failed');
export const failSubmission = statement({
  name: 'submission_fail',
  parameters: { transactionId: 'int8', updatedAt: 'timestamptz' },
  text: `update submissions set status = ${failed.to}, updated_at = :updatedAt
   where transaction_id = :transactionId and status in (${failed.from})`,
});

const takenBack = sqlMove(submissionMoves, 'outcome_taken_back');
// Their transactions are pending again: a success may turn into a failure.
export const reopenSubmissions = statement({
  name: 'submission_reopen',
  parameters: { transactionIds: 'int8[]', updatedAt: 'timestamptz' },
  text: `update submissions s set status = ${takenBack.to}, updated_at = :updatedAt
   from (
     select order_id from submissions where transaction_id = any (:transactionIds) and status in (${takenBack.from})
     order by order_id for update) as found
   where s.order_id = found.order_id`,
});

const dropped = sqlMove(submissionMoves, 'wallet_dropped');
// Submissions of wallets that no longer exist here, so their outcome will never be reported. Excludes x402: its client
// would pay again, for another order, while the first payment may still be mined. Rows are locked in one order, so that
// two processes cannot deadlock.
export const releaseSubmissions = statement({
  name: 'submission_release',
  parameters: { wallets: 'text[]', sentBefore: 'timestamptz', updatedAt: 'timestamptz' },
  columns: { order_id: 'text' },
  text: `update submissions s set status = ${dropped.to}, updated_at = :updatedAt
   from (
     select s.order_id from submissions s join sent_transactions t on t.transaction_id = s.transaction_id
     where s.status in (${dropped.from}) and s.method <> 'x402' and s.updated_at < :sentBefore
       and t.status = 'pending' and t.wallet <> all (:wallets)
     order by s.order_id for update of s) as found
   where s.order_id = found.order_id
   returning s.order_id`,
});

// The newest orders first: a payer pays soon after preparing. The limit bounds the work that strangers can cause.
export const recentOrders = statement({
  name: 'submission_recent_orders',
  parameters: { sessionId: 'text', limit: 'int8' },
  columns: { order_id: 'text' },
  text: // An order without a signature belongs to a late deposit. Only its collection may pay it.
  `select order_id from orders where session_id = :sessionId and signature <> '0x'
   order by created_at desc, order_id limit :limit`,
});
