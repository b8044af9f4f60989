import { type Row, statement } from '@florin/pg';

export const knownOrders = statement(
  'movement_known_orders',
  ['text[]'],
  { order_id: 'text' },
  'select order_id from orders where order_id = any ($1)',
);

export const directPayments = statement(
  'movement_direct_payments',
  ['text[]', 'text'],
  { order_id: 'text' },
  `select order_id from chain_events
   where order_id = any ($1) and event_name = 'Paid' and is_final and arguments->>'orderType' = $2`,
);

// Names the kinds of the partial index ledger_entries_movements.
export const bookedOfTransaction = statement(
  'movement_booked_of_transaction',
  ['int8', 'text', 'text', 'text', 'text', 'text', 'numeric'],
  { entries: 'int8', booked: 'numeric' },
  `select count(distinct e.entry_id) as entries,
     coalesce(sum(p.amount) filter (where e.order_id = $4), 0) as booked
   from ledger_entries e left join ledger_postings p
     on p.entry_id = e.entry_id and p.ledger_account = $5 and p.asset = $6 and abs(p.amount) = abs($7::numeric)
   where e.chain_id = $1 and e.tx_hash = $2 and e.kind = $3
     and e.kind in ('settlement_refund', 'rescue', 'fee_withdrawal', 'float_deposit', 'float_withdrawal', 'unmatched')`,
);

const unmatchedColumns = {
  chain_id: 'int8',
  order_id: 'text',
  tx_hash: 'text',
  block_number: 'int8',
  block_time: 'timestamptz',
  channel_id: 'text',
  meta_data: 'text',
  payer: 'text',
  recipient: 'text',
  token: 'text',
  total: 'numeric',
  payment: 'numeric',
  fee: 'numeric',
  order_type: 'int4',
  status: 'text',
  outcome_tx: 'text',
} as const;
const unmatchedList = Object.keys(unmatchedColumns).join(', ');

// A payment that is final a second time, in another block after a deep reorganisation, keeps what became of it.
export const insertUnmatched = statement(
  'movement_unmatched_insert',
  [
    'int8',
    'text',
    'text',
    'int8',
    'timestamptz',
    'text',
    'text',
    'text',
    'text',
    'text',
    'numeric',
    'numeric',
    'numeric',
    'int4',
    'text',
  ],
  {},
  `insert into unmatched_payments
     (chain_id, order_id, tx_hash, block_number, block_time, channel_id, meta_data, payer, recipient, token, total,
      payment, fee, order_type, status)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
   on conflict (chain_id, order_id) do update set tx_hash = $3, block_number = $4, block_time = $5`,
);

export const concludeUnmatched = statement(
  'movement_unmatched_conclude',
  ['int8', 'text', 'text', 'text'],
  {},
  `update unmatched_payments set status = $3, outcome_tx = $4 where chain_id = $1 and order_id = $2`,
);

export const unmatchedPayments = statement(
  'movement_unmatched_list',
  ['int8'],
  unmatchedColumns,
  `select ${unmatchedList} from unmatched_payments order by block_time, chain_id, order_id limit $1`,
);
export type UnmatchedRow = Row<typeof unmatchedPayments>;
