import { statement } from '@florin/pg';

// This lock decides between settling and refunding: recording a settlement takes the same one.
export const lockSettleLeg = statement({
  name: 'leg_lock_settle',
  parameters: { orderId: 'text' },
  columns: { status: 'text' },
  text: `select status from settlements where order_id = :orderId and leg = 'settle' for update`,
});

export const canonicalOutcome = statement({
  name: 'leg_canonical_outcome',
  parameters: { orderId: 'text' },
  columns: { event_name: 'text' },
  text: `select event_name from chain_events
   where order_id = :orderId and event_name in ('Settled', 'Refunded', 'Reclaimed') limit 1`,
});

// Searches the calldata of the few pending transactions. The leg alone does not tell: when a stranger's settle call
// skips the order, the leg returns to waiting while our own transaction is still pending.
export const pendingCarrier = statement({
  name: 'leg_pending_carrier',
  parameters: { chainId: 'int8', callDataPart: 'text' },
  columns: { transaction_id: 'int8' },
  text: `select transaction_id from sent_transactions
   where chain_id = :chainId and status = 'pending' and purpose = 'settle' and strpos(lower(call_data), lower(:callDataPart)) > 0
   limit 1`,
});
