import { statement } from '@florin/pg';

export const knownOrders = statement({
  name: 'movement_known_orders',
  parameters: { orderIds: 'text[]' },
  columns: { order_id: 'text' },
  text: 'select order_id from orders where order_id = any (:orderIds)',
});

export const directPayments = statement({
  name: 'movement_direct_payments',
  parameters: { orderIds: 'text[]', orderType: 'text' },
  columns: { order_id: 'text' },
  text: `select order_id from chain_events
   where order_id = any (:orderIds) and event_name = 'Paid' and is_final and arguments->>'orderType' = :orderType`,
});

// A token that was renamed has several rows: the last comparison counts.
export const comparedTokens = statement({
  name: 'movement_compared_tokens',
  parameters: { chainId: 'int8', addresses: 'text[]' },
  columns: { token: 'text', asset: 'text' },
  text: `select distinct on (token) token, asset from reconciled_balances
   where chain_id = :chainId and token = any (:addresses) order by token, updated_at desc`,
});

// Names the kinds of the partial index ledger_entries_movements.
export const bookedOfTransaction = statement({
  name: 'movement_booked_of_transaction',
  parameters: {
    chainId: 'int8',
    txHash: 'text',
    kind: 'text',
    orderId: 'text',
    ledgerAccount: 'text',
    asset: 'text',
    amount: 'numeric',
  },
  columns: { entries: 'int8', booked: 'numeric' },
  text: `select count(distinct e.entry_id) as entries,
     coalesce(sum(p.amount) filter (where e.order_id = :orderId), 0) as booked
   from ledger_entries e left join ledger_postings p
     on p.entry_id = e.entry_id and p.ledger_account = :ledgerAccount and p.asset = :asset
       and abs(p.amount) = abs(:amount::numeric)
   where e.chain_id = :chainId and e.tx_hash = :txHash and e.kind = :kind
     and e.kind in ('settlement_refund', 'rescue', 'fee_withdrawal', 'float_deposit', 'float_withdrawal', 'unmatched')`,
});

// After a deep reorg the payment may become final again in another block. Its outcome stays.
export const insertUnmatched = statement({
  name: 'movement_unmatched_insert',
  parameters: {
    chainId: 'int8',
    orderId: 'text',
    txHash: 'text',
    blockNumber: 'int8',
    blockTime: 'timestamptz',
    channelId: 'text',
    metaData: 'text',
    payer: 'text',
    recipient: 'text',
    token: 'text',
    total: 'numeric',
    payment: 'numeric',
    fee: 'numeric',
    orderType: 'int4',
    status: 'text',
  },
  text: `insert into unmatched_payments
     (chain_id, order_id, tx_hash, block_number, block_time, channel_id, meta_data, payer, recipient, token, total,
      payment, fee, order_type, status)
   values (:chainId, :orderId, :txHash, :blockNumber, :blockTime, :channelId, :metaData, :payer, :recipient, :token,
     :total, :payment, :fee, :orderType, :status)
   on conflict (chain_id, order_id) do update set tx_hash = :txHash, block_number = :blockNumber, block_time = :blockTime`,
});

// A block that is read again has the same payout.
export const insertUnknownPayout = statement({
  name: 'movement_unknown_payout_insert',
  parameters: { chainId: 'int8', orderId: 'text', txHash: 'text', blockTime: 'timestamptz' },
  text: `insert into unknown_payouts (chain_id, order_id, tx_hash, block_time)
   values (:chainId, :orderId, :txHash, :blockTime) on conflict do nothing`,
});

export const concludeUnmatched = statement({
  name: 'movement_unmatched_conclude',
  parameters: { chainId: 'int8', orderId: 'text', status: 'text', outcomeTx: 'text' },
  text: `update unmatched_payments set status = :status, outcome_tx = :outcomeTx
   where chain_id = :chainId and order_id = :orderId`,
});

export const unmatchedPayments = statement({
  name: 'movement_unmatched_list',
  parameters: { limit: 'int8' },
  columns: {
    chain_id: 'int8',
    order_id: 'text',
    tx_hash: 'text',
    block_time: 'timestamptz',
    channel_id: 'text',
    meta_data: 'text',
    payer: 'text',
    recipient: 'text',
    token: 'text',
    total: 'numeric',
    payment: 'numeric',
    fee: 'numeric',
    status: 'text',
    outcome_tx: 'text',
  },
  text: `select chain_id, order_id, tx_hash, block_time, channel_id, meta_data, payer, recipient, token, total, payment,
     fee, status, outcome_tx
   from unmatched_payments order by block_time, chain_id, order_id limit :limit`,
});
