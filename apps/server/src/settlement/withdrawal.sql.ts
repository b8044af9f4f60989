import { statement } from '@florin/pg';

// The lock that decides between settling and refunding: whoever records a settlement takes the same one.
export const lockSettleLeg = statement(
  'leg_lock_settle',
  ['text'],
  { status: 'text' },
  `select status from settlements where order_id = $1 and leg = 'settle' for update`,
);

export const canonicalOutcome = statement(
  'leg_canonical_outcome',
  ['text'],
  { event_name: 'text' },
  `select event_name from chain_events
   where order_id = $1 and event_name in ('Settled', 'Refunded', 'Reclaimed') limit 1`,
);

// Few transactions are pending at a time. Asked of the calldata itself, because a leg can be back in line while a
// transaction that carries it is alive: a stranger's settle call that skips the order puts it there.
export const pendingCarrier = statement(
  'leg_pending_carrier',
  ['int8', 'text'],
  { transaction_id: 'int8' },
  `select transaction_id from sent_transactions
   where chain_id = $1 and status = 'pending' and purpose = 'settle' and strpos(lower(call_data), lower($2)) > 0
   limit 1`,
);
