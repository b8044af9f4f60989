import { type Row, statement } from '@florin/pg';
import { awaitLockOf } from './advisory-lock.ts';
import { sqlStatusesBefore } from './sent.machine.ts';

const transactionColumns = {
  transaction_id: 'int8',
  chain_id: 'int8',
  nonce: 'int8',
  purpose: 'text',
  recipient: 'text',
  call_data: 'text',
  gas_limit: 'int8',
  mined_hash: 'text',
  mined_block: 'int8?',
} as const;
const transactionList = Object.keys(transactionColumns).join(', ');

const attemptColumns = {
  transaction_id: 'int8',
  tx_hash: 'text',
  raw: 'text',
  max_fee: 'numeric',
  priority_fee: 'numeric',
  created_at: 'timestamptz',
  refusal: 'text',
  is_capped: 'bool',
} as const;
const attemptList = Object.keys(attemptColumns).join(', ');

// Takes the wallet's row lock until the transaction ends. Nonces are assigned in order, and a rollback returns its
// nonces. PostgreSQL grants a row lock in no particular order. The advisory lock before it is granted in the order of
// requests, the order in which signatures are made ahead (docs/decisions/0047). Returns the first nonce.
export const reserveNonces = statement({
  name: 'sender_nonces_take',
  parameters: { chainId: 'int8', wallet: 'text', floor: 'int8', count: 'int8' },
  columns: { nonce: 'int8' },
  text: `insert into wallet_nonces as w (chain_id, wallet, next_nonce)
   select :chainId::int8, :wallet::text, :floor::int8 + :count::int8
   from (select ${awaitLockOf('nonces', ":chainId::int8 || ' ' || :wallet::text")}) as turn
   on conflict (chain_id, wallet) do update set next_nonce = greatest(w.next_nonce, :floor) + :count
   returning next_nonce - :count as nonce`,
});

// Inserts transactions with their first attempts, in one round trip. A nonce with a row is never reused for another
// transaction.
export const insertTransactions = statement({
  name: 'sender_transactions_insert',
  parameters: {
    chainId: 'int8',
    wallet: 'text',
    createdAt: 'timestamptz',
    nonces: 'int8[]',
    purposes: 'text[]',
    recipients: 'text[]',
    callData: 'text[]',
    gasLimits: 'int8[]',
    txHashes: 'text[]',
    raws: 'text[]',
    maxFees: 'numeric[]',
    priorityFees: 'numeric[]',
  },
  columns: { transaction_id: 'int8', tx_hash: 'text' },
  text: `with given as (
     select * from unnest(
       :nonces::int8[], :purposes::text[], :recipients::text[], :callData::text[], :gasLimits::int8[], :txHashes::text[], :raws::text[], :maxFees::numeric[], :priorityFees::numeric[]
     ) as given (nonce, purpose, recipient, call_data, gas_limit, tx_hash, raw, max_fee, priority_fee)
   ), stored as (
     insert into sent_transactions
       (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at, updated_at)
     select :chainId, :wallet, nonce, purpose, recipient, call_data, gas_limit, 'pending', :createdAt, :createdAt from given order by nonce
     on conflict (chain_id, wallet, nonce) do nothing
     returning transaction_id, nonce)
   insert into sent_attempts (tx_hash, raw, max_fee, priority_fee, transaction_id, created_at)
   select tx_hash, raw, max_fee, priority_fee, transaction_id, :createdAt from stored join given using (nonce)
   returning transaction_id, tx_hash`,
});

export const insertAttempt = statement({
  name: 'sender_attempt_insert',
  parameters: {
    transactionId: 'int8',
    txHash: 'text',
    raw: 'text',
    maxFee: 'numeric',
    priorityFee: 'numeric',
    createdAt: 'timestamptz',
  },
  text: `insert into sent_attempts (transaction_id, tx_hash, raw, max_fee, priority_fee, created_at)
   values (:transactionId, :txHash, :raw, :maxFee, :priorityFee, :createdAt) on conflict (tx_hash) do nothing`,
});

export const pendingTransactions = statement({
  name: 'sender_pending',
  parameters: { chainId: 'int8', wallet: 'text', limit: 'int8' },
  columns: transactionColumns,
  text: `select ${transactionList} from sent_transactions
   where chain_id = :chainId and wallet = :wallet and status = 'pending' order by nonce limit :limit`,
});
export type TransactionRow = Row<typeof pendingTransactions>;

export const pendingTransaction = statement({
  name: 'sender_pending_by_id',
  parameters: { transactionId: 'int8' },
  columns: transactionColumns,
  text: `select ${transactionList} from sent_transactions where transaction_id = :transactionId and status = 'pending'`,
});

// Locks the row while an outcome or a replacement is stored, so that each is stored once.
export const lockPending = statement({
  name: 'sender_pending_lock',
  parameters: { transactionId: 'int8' },
  columns: transactionColumns,
  text: `select ${transactionList} from sent_transactions where transaction_id = :transactionId and status = 'pending' for update`,
});

// Locks rows in one order, so that two processes that store the same outcomes cannot deadlock.
export const lockPendingOfIds = statement({
  name: 'sender_pending_lock_ids',
  parameters: { transactionIds: 'int8[]' },
  columns: { transaction_id: 'int8' },
  text: `select transaction_id from sent_transactions
   where transaction_id = any (:transactionIds) and status = 'pending' order by transaction_id for update`,
});

// Later attempts always offer more.
export const attemptsOf = statement({
  name: 'sender_attempts',
  parameters: { transactionIds: 'int8[]' },
  columns: attemptColumns,
  text: `select ${attemptList} from sent_attempts where transaction_id = any (:transactionIds) order by transaction_id, max_fee`,
});
export type AttemptRow = Row<typeof attemptsOf>;

// Locks rows in one order, so that two processes that broadcast the same attempts cannot deadlock.
export const setRefusals = statement({
  name: 'sender_refusals_set',
  parameters: { txHashes: 'text[]', refusals: 'text[]' },
  text: `with given as (
     select * from unnest(:txHashes::text[], :refusals::text[]) as given (tx_hash, refusal)
   ), locked as (
     select a.tx_hash from sent_attempts a join given on given.tx_hash = a.tx_hash order by a.tx_hash for update of a)
   update sent_attempts a set refusal = given.refusal
   from locked join given using (tx_hash) where a.tx_hash = locked.tx_hash`,
});

// Locks rows in one order, as the statement above.
export const setCapped = statement({
  name: 'sender_capped_set',
  parameters: { txHashes: 'text[]', isCapped: 'bool[]' },
  text: `with given as (
     select * from unnest(:txHashes::text[], :isCapped::bool[]) as given (tx_hash, is_capped)
   ), locked as (
     select a.tx_hash from sent_attempts a join given on given.tx_hash = a.tx_hash order by a.tx_hash for update of a)
   update sent_attempts a set is_capped = given.is_capped
   from locked join given using (tx_hash) where a.tx_hash = locked.tx_hash`,
});

// Locks rows in one order, so that two processes that store the same blocks cannot deadlock.
export const setMined = statement({
  name: 'sender_mined_set',
  parameters: {
    transactionIds: 'int8[]',
    minedHashes: 'text[]',
    minedBlocks: 'int8[]',
    updatedAt: 'timestamptz',
  },
  text: `with given as (
     select * from unnest(:transactionIds::int8[], :minedHashes::text[], :minedBlocks::int8[]) as given (transaction_id, mined_hash, mined_block)
   ), locked as (
     select t.transaction_id from sent_transactions t join given on given.transaction_id = t.transaction_id
     where t.status = 'pending' order by t.transaction_id for update of t)
   update sent_transactions t set mined_hash = given.mined_hash, mined_block = given.mined_block, updated_at = :updatedAt
   from locked join given using (transaction_id) where t.transaction_id = locked.transaction_id`,
});

// The returned rows had no outcome before. `lockPendingOfIds` has locked the rows before. So this statement sees
// whether final blocks were reverted since the cursor was read, which makes the round's findings void.
export const setOutcomes = statement({
  name: 'sender_outcomes_set',
  parameters: {
    transactionIds: 'int8[]',
    statuses: 'text[]',
    minedHashes: 'text[]',
    minedBlocks: 'int8[]',
    updatedAt: 'timestamptz',
    rewinds: 'int8',
  },
  columns: { transaction_id: 'int8' },
  text: `update sent_transactions t
   set status = given.status, mined_hash = given.mined_hash, mined_block = given.mined_block, updated_at = :updatedAt
   from unnest(:transactionIds::int8[], :statuses::text[], :minedHashes::text[], :minedBlocks::int8[])
     as given (transaction_id, status, mined_hash, mined_block)
   where t.transaction_id = given.transaction_id and t.status = 'pending'
     and (select c.rewinds from chain_cursors c where c.chain_id = t.chain_id) = :rewinds
   returning t.transaction_id`,
});

// The transactions that another process may be about to finish, and those with an outcome above this block.
export const lockOutcomes = statement({
  name: 'sender_outcomes_lock',
  parameters: { chainId: 'int8', above: 'int8' },
  columns: { transaction_id: 'int8' },
  text: `select transaction_id from sent_transactions
   where chain_id = :chainId and (status = 'pending' or mined_block > :above) order by transaction_id for update`,
});

// Reopens outcomes in blocks above this one that were final and are reverted. It runs after the statement that locks
// the rows, so it sees outcomes that others stored before the lock was granted. The attempt in such a block stays
// recorded, so that it is broadcast again at once.
export const reopenOutcomes = statement({
  name: 'sender_outcomes_reopen',
  parameters: { chainId: 'int8', above: 'int8', updatedAt: 'timestamptz' },
  columns: { transaction_id: 'int8' },
  text: `update sent_transactions set status = 'pending', updated_at = :updatedAt
   where chain_id = :chainId and mined_block > :above and status in (${sqlStatusesBefore('block_taken_back')})
   returning transaction_id`,
});

export const noncesWithRow = statement({
  name: 'sender_nonces',
  parameters: { chainId: 'int8', wallet: 'text', from: 'int8', below: 'int8' },
  columns: { nonce: 'int8' },
  text: `select nonce from sent_transactions where chain_id = :chainId and wallet = :wallet and nonce >= :from and nonce < :below`,
});

// The highest remaining cost of the wallet's pending transactions: those in blocks are paid. The last attempt offers
// most.
export const offeredAhead = statement({
  name: 'sender_offered_ahead',
  parameters: { chainId: 'int8', wallet: 'text' },
  columns: { wei: 'numeric' },
  text: `select coalesce(sum(t.gas_limit * (
     select max(a.max_fee) from sent_attempts a where a.transaction_id = t.transaction_id)), 0) as wei
   from sent_transactions t
   where t.chain_id = :chainId and t.wallet = :wallet and t.status = 'pending' and t.mined_hash = ''`,
});

// The sum of the wallet's highest offers in some days. The cost was about half, because an offer covers twice the
// base fee.
export const offeredSince = statement({
  name: 'sender_offered_since',
  parameters: { chainId: 'int8', wallet: 'text', createdAt: 'timestamptz' },
  columns: { wei: 'numeric' },
  text: `select coalesce(sum(t.gas_limit * a.max_fee), 0) as wei
   from sent_transactions t join sent_attempts a on a.transaction_id = t.transaction_id
   where t.chain_id = :chainId and t.wallet = :wallet and t.created_at > :createdAt and t.mined_hash = a.tx_hash`,
});

// The nonce in a range from which on all should be ours: the first that has a transaction of ours since a moment, or the
// range's start when the one before it is of that time. And how many of the range are ours: a superseded transaction lost its
// nonce to somebody else's.
export const noncesOfOurs = statement({
  name: 'sender_nonces_ours',
  parameters: { chainId: 'int8', wallet: 'text', from: 'int8', below: 'int8', since: 'timestamptz' },
  columns: { first: 'int8?', used: 'int8' },
  text: `select coalesce(
       (select :from::int8 from (select created_at from sent_transactions
         where chain_id = :chainId and wallet = :wallet and nonce < :from order by nonce desc limit 1) as last
        where created_at > :since),
       min(nonce)) as first,
     count(*) filter (where status <> 'superseded') as used from sent_transactions
   where chain_id = :chainId and wallet = :wallet and nonce >= :from and nonce < :below and created_at > :since`,
});
