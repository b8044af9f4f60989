import { statement } from '@florin/pg';

/** A transaction that waits to be mined: its chain and its call. */
export const insertSent = statement({
  name: 'harness_sent',
  parameters: { chainId: 'int8', callData: 'text' },
  columns: { transaction_id: 'int8' },
  text: `insert into sent_transactions (chain_id, wallet, nonce, purpose, recipient, call_data, gas_limit, status, created_at,
     updated_at)
   select :chainId, '0xwallet', count(*), 'relay', '0xgateway', :callData, 1, 'pending', now(), now() from sent_transactions
   returning transaction_id`,
});

/** An attempt to send it, by hash. */
export const insertAttempt = statement({
  name: 'harness_sent_attempt',
  parameters: { txHash: 'text', transactionId: 'int8' },
  text: `insert into sent_attempts (tx_hash, transaction_id, raw, max_fee, priority_fee, created_at)
   values (:txHash, :transactionId, '0x', 1, 1, now())`,
});
