import { type Row, statement } from '@florin/pg';
import { sqlMove } from '@florin/protocol/machine.ts';
import { awaitLockOf } from '#db/advisory-lock.ts';
import { sentMoves } from './sent.machine.ts';

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
} as const;
const attemptList = Object.keys(attemptColumns).join(', ');

// Takes the wallet's row lock until the transaction ends: nonces are given out one after the other, and those that are
// given back by a rollback are given out again. Whoever waits for a row is woken in no order; the lock before it is taken in
// the order in which it was asked for, which is the order that signatures are made ahead in (docs/decisions/0047). $3 is the
// floor, $4 how many; the first of them comes back.
export const takeNonces = statement(
  'sender_nonces_take',
  ['int8', 'text', 'int8', 'int8'],
  { nonce: 'int8' },
  `insert into wallet_nonces as w (chain_id, wallet, next_nonce)
   select $1::int8, $2::text, $3::int8 + $4::int8
   from (select ${awaitLockOf('nonces', "$1::int8 || ' ' || $2::text")}) as turn
   on conflict (chain_id, wallet) do update set next_nonce = greatest(w.next_nonce, $3) + $4
   returning next_nonce - $4 as nonce`,
);

// With their first attempts, in one round trip. A nonce that has a row is never used for anything else.
export const insertTransactions = statement(
  'sender_transactions_insert',
  [
    ...(['int8', 'text', 'timestamptz', 'int8[]', 'text[]', 'text[]', 'text[]', 'int8[]'] as const),
    ...(['text[]', 'text[]', 'numeric[]', 'numeric[]'] as const),
  ],
  { transaction_id: 'int8', tx_hash: 'text' },
  `with given as (
     select * from unnest(
       $4::int8[], $5::text[], $6::text[], $7::text[], $8::int8[], $9::text[], $10::text[], $11::numeric[], $12::numeric[]
     ) as given (nonce, purpose, recipient, call_data, gas_limit, tx_hash, raw, max_fee, priority_fee)
   ), stored as (
     insert into sent_transactions
       (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at, updated_at)
     select $1, $2, nonce, purpose, recipient, call_data, gas_limit, 'pending', $3, $3 from given order by nonce
     on conflict (chain_id, wallet, nonce) do nothing
     returning transaction_id, nonce)
   insert into sent_attempts (tx_hash, raw, max_fee, priority_fee, transaction_id, created_at)
   select tx_hash, raw, max_fee, priority_fee, transaction_id, $3 from stored join given using (nonce)
   returning transaction_id, tx_hash`,
);

export const insertAttempt = statement(
  'sender_attempt_insert',
  ['int8', 'text', 'text', 'numeric', 'numeric', 'timestamptz'],
  {},
  `insert into sent_attempts (${attemptList}) values ($1, $2, $3, $4, $5, $6) on conflict (tx_hash) do nothing`,
);

export const pendingTransactions = statement(
  'sender_pending',
  ['int8', 'text', 'int8'],
  transactionColumns,
  `select ${transactionList} from sent_transactions
   where chain_id = $1 and wallet = $2 and status = 'pending' order by nonce limit $3`,
);
export type TransactionRow = Row<typeof pendingTransactions>;

export const pendingTransaction = statement(
  'sender_pending_by_id',
  ['int8'],
  transactionColumns,
  `select ${transactionList} from sent_transactions where transaction_id = $1 and status = 'pending'`,
);

// Held while an outcome or a replacement is stored, so that each is stored once.
export const lockPending = statement(
  'sender_pending_lock',
  ['int8'],
  transactionColumns,
  `select ${transactionList} from sent_transactions where transaction_id = $1 and status = 'pending' for update`,
);

// In one order, so that two processes that conclude the same cannot wait for each other.
export const lockPendingOfIds = statement(
  'sender_pending_lock_ids',
  ['int8[]'],
  { transaction_id: 'int8' },
  `select transaction_id from sent_transactions
   where transaction_id = any ($1) and status = 'pending' order by transaction_id for update`,
);

// Later attempts always offer more.
export const attemptsOf = statement(
  'sender_attempts',
  ['int8[]'],
  attemptColumns,
  `select ${attemptList} from sent_attempts where transaction_id = any ($1) order by transaction_id, max_fee`,
);
export type AttemptRow = Row<typeof attemptsOf>;

// Rows of several transactions are locked in one order, so that two processes that store the same cannot wait for each
// other.
export const setMined = statement(
  'sender_mined_set',
  ['int8[]', 'text[]', 'int8[]', 'timestamptz'],
  {},
  `with given as (
     select * from unnest($1::int8[], $2::text[], $3::int8[]) as given (transaction_id, mined_hash, mined_block)
   ), locked as (
     select t.transaction_id from sent_transactions t join given on given.transaction_id = t.transaction_id
     where t.status = 'pending' order by t.transaction_id for update of t)
   update sent_transactions t set mined_hash = given.mined_hash, mined_block = given.mined_block, updated_at = $4
   from locked join given using (transaction_id) where t.transaction_id = locked.transaction_id`,
);

// Those that come back had no outcome before. Locked by `lockPendingOfIds` before, so that this sees whether final blocks have
// been taken back since the cursor was read ($6): what was seen of the chain then holds no more.
export const setOutcomes = statement(
  'sender_outcomes_set',
  ['int8[]', 'text[]', 'text[]', 'int8[]', 'timestamptz', 'int8'],
  { transaction_id: 'int8' },
  `update sent_transactions t
   set status = given.status, mined_hash = given.mined_hash, mined_block = given.mined_block, updated_at = $5
   from unnest($1::int8[], $2::text[], $3::text[], $4::int8[])
     as given (transaction_id, status, mined_hash, mined_block)
   where t.transaction_id = given.transaction_id and t.status = 'pending'
     and (select c.rewinds from chain_cursors c where c.chain_id = t.chain_id) = $6
   returning t.transaction_id`,
);

// Those that another process may be about to conclude, and those that have an outcome above block $2.
export const lockOutcomes = statement(
  'sender_outcomes_lock',
  ['int8', 'int8'],
  { transaction_id: 'int8' },
  `select transaction_id from sent_transactions
   where chain_id = $1 and (status = 'pending' or mined_block > $2) order by transaction_id for update`,
);

// Of blocks above $2 that were final and are no more. A statement behind the one that locks them: it sees what others have
// concluded before the lock was theirs no more. The attempt that was in such a block stays noted, so that it is handed
// out again at once.
const takenBack = sqlMove(sentMoves, 'block_taken_back');
export const reopenOutcomes = statement(
  'sender_outcomes_reopen',
  ['int8', 'int8', 'timestamptz'],
  { transaction_id: 'int8' },
  `update sent_transactions set status = ${takenBack.to}, updated_at = $3
   where chain_id = $1 and mined_block > $2 and status in (${takenBack.from})
   returning transaction_id`,
);

export const noncesWithRow = statement(
  'sender_nonces',
  ['int8', 'text', 'int8', 'int8'],
  { nonce: 'int8' },
  `select nonce from sent_transactions where chain_id = $1 and wallet = $2 and nonce >= $3 and nonce < $4`,
);

// What the wallet may still have to pay for what it has sent: those in blocks are paid for. The last attempt offers most.
export const offeredAhead = statement(
  'sender_offered_ahead',
  ['int8', 'text'],
  { wei: 'numeric' },
  `select coalesce(sum(t.gas_limit * (
     select max(a.max_fee) from sent_attempts a where a.transaction_id = t.transaction_id)), 0) as wei
   from sent_transactions t
   where t.chain_id = $1 and t.wallet = $2 and t.status = 'pending' and t.mined_hash = ''`,
);

// What the wallet has offered at most for the transactions of some days. What it paid is less: about half, for the offer
// bears a base fee twice as high.
export const offeredSince = statement(
  'sender_offered_since',
  ['int8', 'text', 'timestamptz'],
  { wei: 'numeric' },
  `select coalesce(sum(t.gas_limit * a.max_fee), 0) as wei
   from sent_transactions t join sent_attempts a on a.transaction_id = t.transaction_id
   where t.chain_id = $1 and t.wallet = $2 and t.created_at > $3 and t.mined_hash = a.tx_hash`,
);
