import { type Row, statement } from '#db/statement.ts';

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

// Takes the wallet's row lock until the transaction ends: nonces are given out one after the other, and one that is
// given back by a rollback is given out again. $3 is the floor.
export const takeNonce = statement(
  'sender_nonce_take',
  ['int8', 'text', 'int8'],
  { nonce: 'int8' },
  `insert into wallet_nonces as w (chain_id, wallet, next_nonce) values ($1, $2, $3::int8 + 1)
   on conflict (chain_id, wallet) do update set next_nonce = greatest(w.next_nonce, $3) + 1
   returning next_nonce - 1 as nonce`,
);

// With its first attempt, in one round trip. A nonce that has a row is never used for anything else.
export const insertTransaction = statement(
  'sender_transaction_insert',
  [
    ...(['int8', 'text', 'int8', 'text', 'text', 'text', 'int8', 'timestamptz'] as const),
    ...(['text', 'text', 'numeric', 'numeric'] as const),
  ],
  { transaction_id: 'int8' },
  `with stored as (
     insert into sent_transactions
       (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, 'pending', $8, $8)
     on conflict (chain_id, wallet, nonce) do nothing
     returning transaction_id)
   insert into sent_attempts (tx_hash, raw, max_fee, priority_fee, transaction_id, created_at)
   select $9, $10, $11, $12, transaction_id, $8 from stored
   returning transaction_id`,
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

// Later attempts always offer more.
export const attemptsOf = statement(
  'sender_attempts',
  ['int8[]'],
  attemptColumns,
  `select ${attemptList} from sent_attempts where transaction_id = any ($1) order by transaction_id, max_fee`,
);
export type AttemptRow = Row<typeof attemptsOf>;

export const setMined = statement(
  'sender_mined_set',
  ['int8', 'text', 'int8', 'timestamptz'],
  {},
  `update sent_transactions set mined_hash = $2, mined_block = $3, updated_at = $4
   where transaction_id = $1 and status = 'pending'`,
);

export const setOutcome = statement(
  'sender_outcome_set',
  ['int8', 'text', 'text', 'int8', 'timestamptz'],
  {},
  `update sent_transactions set status = $2, mined_hash = $3, mined_block = $4, updated_at = $5
   where transaction_id = $1 and status = 'pending'`,
);

export const noncesWithRow = statement(
  'sender_nonces',
  ['int8', 'text', 'int8', 'int8'],
  { nonce: 'int8' },
  `select nonce from sent_transactions where chain_id = $1 and wallet = $2 and nonce >= $3 and nonce < $4`,
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
