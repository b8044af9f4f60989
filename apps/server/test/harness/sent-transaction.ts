import { statement } from '@florin/pg';

/** A transaction that waits to be mined: its chain and its call. */
export const insertSent = statement(
  'harness_sent',
  ['int8', 'text'],
  { transaction_id: 'int8' },
  `insert into sent_transactions (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at,
     updated_at)
   select $1, '0xwallet', count(*), 'relay', '0xgateway', $2, 1, 'pending', now(), now() from sent_transactions
   returning transaction_id`,
);

/** An attempt to send it, by hash. */
export const insertAttempt = statement(
  'harness_sent_attempt',
  ['text', 'int8'],
  {},
  `insert into sent_attempts (tx_hash, transaction_id, raw, max_fee, priority_fee, created_at)
   values ($1, $2, '0x', 1, 1, now())`,
);
