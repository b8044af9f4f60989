import { type Row, statement } from '#db/statement.ts';

const columns = {
  refund_id: 'text',
  merchant_id: 'text',
  session_id: 'text',
  order_id: 'text',
  amount: 'int8',
  status: 'text',
  reason: 'text',
  tx_hash: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

const columnList = Object.keys(columns).join(', ');

export const insertRefund = statement(
  'refund_insert',
  ['text', 'text', 'text', 'text', 'int8', 'text', 'timestamptz'],
  columns,
  `insert into refunds (refund_id, merchant_id, session_id, order_id, amount, status, reason, created_at, updated_at)
   values ($1, $2, $3, $4, $5, 'pending', $6, $7, $7)
   returning ${columnList}`,
);
export type RefundRow = Row<typeof insertRefund>;

export const refundById = statement(
  'refund_by_id',
  ['text', 'text'],
  columns,
  `select ${columnList} from refunds where merchant_id = $1 and refund_id = $2`,
);

export const refundPage = statement(
  'refund_page',
  ['text', 'int8', 'int8'],
  columns,
  `select ${columnList} from refunds where merchant_id = $1 order by ordinal desc limit $2 offset $3`,
);

export const refundCount = statement(
  'refund_count',
  ['text'],
  { total: 'int8' },
  'select count(*) as total from refunds where merchant_id = $1',
);

// At most one per order; in one order, so that two chains' watchers cannot deadlock.
export const lockPendingRefunds = statement(
  'refund_lock_pending',
  ['text[]'],
  columns,
  `select ${columnList} from refunds where order_id = any ($1) and status = 'pending' order by refund_id for update`,
);

// The old status stands in the where clause: a move that raced with another changes nothing.
export const updateRefund = statement(
  'refund_update',
  ['text', 'text', 'text', 'text', 'timestamptz'],
  columns,
  `update refunds set status = $3, tx_hash = $4, updated_at = $5
   where refund_id = $1 and status = $2
   returning ${columnList}`,
);
