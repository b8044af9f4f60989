import { type Row, statement } from '@florin/pg';
import { pageColumns, pageParameters, pageText, wholeList } from '#db/list-page.ts';

const columns = {
  refund_id: 'text',
  merchant_id: 'text',
  session_id: 'text',
  order_id: 'text',
  exception_id: 'text',
  amount: 'int8',
  status: 'text',
  reason: 'text',
  tx_hash: 'text',
  cancelled_at: 'timestamptz?',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

const columnList = Object.keys(columns).join(', ');

export const insertRefund = statement({
  name: 'refund_insert',
  parameters: {
    refundId: 'text',
    merchantId: 'text',
    sessionId: 'text',
    orderId: 'text',
    exceptionId: 'text',
    amount: 'int8',
    status: 'text',
    reason: 'text',
    txHash: 'text',
    createdAt: 'timestamptz',
  },
  columns,
  text: `insert into refunds (refund_id, merchant_id, session_id, order_id, exception_id, amount, status, reason, tx_hash, created_at, updated_at)
   values (:refundId, :merchantId, :sessionId, :orderId, :exceptionId, :amount, :status, :reason, :txHash, :createdAt, :createdAt)
   returning ${columnList}`,
});
export type RefundRow = Row<typeof insertRefund>;

export const refundById = statement({
  name: 'refund_by_id',
  parameters: { merchantId: 'text', refundId: 'text' },
  columns,
  text: `select ${columnList} from refunds where merchant_id = :merchantId and refund_id = :refundId`,
});

// A final return locks the same row: it precedes the cancelling, or finds the refund cancelled.
export const lockRefund = statement({
  name: 'refund_lock',
  parameters: { merchantId: 'text', refundId: 'text' },
  columns,
  text: `select ${columnList} from refunds where merchant_id = :merchantId and refund_id = :refundId for update`,
});

export const refundsBySession = statement({
  name: 'refunds_by_session',
  parameters: { sessionId: 'text' },
  columns,
  text: `select ${Object.keys(columns)
    .map((column) => `r.${column}`)
    .join(', ')}
   from orders o join refunds r on r.order_id = o.order_id where o.session_id = :sessionId order by r.ordinal`,
});

export const refundPage = statement({
  name: 'refund_page',
  parameters: pageParameters,
  columns: { ...columns, ...pageColumns },
  text: pageText({
    ...wholeList('refunds'),
    id: 'refund_id',
    columns: columnList,
  }),
});

// A session has few refunds, so they are counted as they are read: both by the index refunds_by_session.
const ofSession = 'merchant_id = :merchantId and session_id = :sessionId';
export const refundPageOfSession = statement({
  name: 'refund_page_of_session',
  parameters: { ...pageParameters, sessionId: 'text' },
  columns: { ...columns, ...pageColumns },
  text: pageText({
    table: 'refunds',
    id: 'refund_id',
    total: `(select count(*) from refunds where ${ofSession})`,
    condition: ofSession,
    columns: columnList,
  }),
});

// Locks in one order, so that the watchers of two chains cannot deadlock.
export const lockOpenRefunds = statement({
  name: 'refund_lock_open',
  parameters: { orderIds: 'text[]' },
  columns,
  text: `select ${columnList} from refunds where order_id = any (:orderIds) and status in ('pending', 'requires_signature')
   order by refund_id for update`,
});

// Oldest first: of two refunds of one amount that no wallet was asked to sign, the older one is completed.
export const lockRefundsToSign = statement({
  name: 'refund_lock_to_sign',
  parameters: { orderId: 'text' },
  columns,
  text: `select ${columnList} from refunds where order_id = :orderId and status = 'requires_signature' order by ordinal for update`,
});

// Oldest first, as among those that wait for a wallet.
export const lockCancelledRefund = statement({
  name: 'refund_lock_cancelled',
  parameters: { orderId: 'text', value: 'numeric', unitsPerMicroUsd: 'numeric' },
  columns,
  text: `select ${columnList} from refunds
   where order_id = :orderId and status = 'cancelled' and amount::numeric * :unitsPerMicroUsd = :value order by ordinal limit 1 for update`,
});

// The refunds that a transaction has completed; of one order they are few.
export const lockRefundsOfReturn = statement({
  name: 'refund_lock_of_return',
  parameters: { merchantId: 'text', sessionId: 'text', orderId: 'text', txHash: 'text' },
  columns,
  text: `select ${columnList} from refunds
   where merchant_id = :merchantId and session_id = :sessionId and order_id = :orderId and status = 'completed' and tx_hash = :txHash
   order by ordinal for update`,
});

// The gateway counts what it returned of each settled order.
export const returnedUnits = statement({
  name: 'refund_returned_units',
  parameters: { orderIds: 'text[]' },
  columns: { order_id: 'text', units: 'numeric' },
  text: `select order_id, max((arguments->>'refundedTotal')::numeric) as units from chain_events
   where order_id = any (:orderIds) and event_name = 'SettlementRefunded' and is_final group by order_id`,
});

export const seenReturn = statement({
  name: 'refund_seen_return',
  parameters: { orderId: 'text', value: 'text' },
  columns: { tx_hash: 'text' },
  text: `select tx_hash from chain_events
   where order_id = :orderId and event_name = 'SettlementRefunded' and not is_final and arguments->>'value' = :value limit 1`,
});

export const completedAmount = statement({
  name: 'refund_completed_amount',
  parameters: { orderId: 'text' },
  columns: { amount: 'numeric' },
  text: `select coalesce(sum(amount), 0) as amount from refunds where order_id = :orderId and status = 'completed'`,
});

export const waitingAmount = statement({
  name: 'refund_waiting_amount',
  parameters: { orderId: 'text' },
  columns: { amount: 'numeric' },
  text: `select coalesce(sum(amount), 0) as amount from refunds where order_id = :orderId and status = 'requires_signature'`,
});

// The condition on the old status makes a move that lost a race change nothing.
export const updateRefund = statement({
  name: 'refund_update',
  parameters: {
    refundId: 'text',
    fromStatus: 'text',
    status: 'text',
    txHash: 'text',
    updatedAt: 'timestamptz',
  },
  columns,
  text: `update refunds set status = :status, tx_hash = :txHash, updated_at = :updatedAt,
     cancelled_at = case :status when 'cancelled' then coalesce(cancelled_at, :updatedAt) else cancelled_at end
   where refund_id = :refundId and status = :fromStatus
   returning ${columnList}`,
});

// Additions to any order of the session: an addition to another order went to that order's payer, and the fee of this
// order pays for it.
export const additionToSession = statement({
  name: 'refund_addition',
  parameters: { sessionId: 'text' },
  columns: { order_id: 'text' },
  text: `select m.order_id from orders o join deposit_moves m on m.order_id = o.order_id
   where o.session_id = :sessionId and m.move = 'add' and m.status <> 'failed'`,
});
