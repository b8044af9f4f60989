import { type Row, statement } from '#db/statement.ts';

const columns = {
  order_id: 'text',
  leg: 'text',
  session_id: 'text',
  chain_id: 'int8',
  status: 'text',
  transaction_id: 'int8?',
  attempts: 'int4',
  retry_at: 'timestamptz',
  reason: 'text',
} as const;

const columnList = Object.keys(columns).join(', ');

export const insertLeg = statement(
  'leg_insert',
  ['text', 'text', 'text', 'int8', 'timestamptz'],
  {},
  `insert into settlements (order_id, leg, session_id, chain_id, status, retry_at, created_at, updated_at)
   values ($1, $2, $3, $4, 'waiting', $5, $5, $5)
   on conflict (order_id, leg) do nothing`,
);
export type LegRow = Row<typeof waitingLegs>;

export const waitingLegs = statement(
  'legs_waiting',
  ['int8', 'text', 'timestamptz', 'int8'],
  columns,
  `select ${columnList} from settlements
   where chain_id = $1 and leg = $2 and status = 'waiting' and retry_at <= $3
   order by retry_at, order_id limit $4`,
);

// Taken in one order, so that two workers cannot deadlock; rows that another worker holds are left to it.
export const lockWaitingLegs = statement(
  'legs_lock_waiting',
  ['text[]', 'text'],
  columns,
  `select ${columnList} from settlements
   where order_id = any ($1) and leg = $2 and status = 'waiting'
   order by order_id for update skip locked`,
);

export const markSent = statement(
  'legs_mark_sent',
  ['text[]', 'text', 'int8', 'timestamptz'],
  {},
  `update settlements set status = 'sent', transaction_id = $3, attempts = attempts + 1, reason = '', updated_at = $4
   where order_id = any ($1) and leg = $2 and status = 'waiting'`,
);

export const markDone = statement(
  'leg_mark_done',
  ['text', 'text', 'text', 'timestamptz'],
  { order_id: 'text' },
  `update settlements set status = 'done', reason = $3, updated_at = $4
   where order_id = $1 and leg = $2 and status <> 'done' returning order_id`,
);

// Back to waiting: the transaction that carried the leg will never settle it.
export const markWaiting = statement(
  'leg_mark_waiting',
  ['text', 'text', 'text', 'timestamptz', 'timestamptz'],
  { order_id: 'text' },
  `update settlements set status = 'waiting', transaction_id = null, reason = $3, retry_at = $4, updated_at = $5
   where order_id = $1 and leg = $2 and status <> 'done' returning order_id`,
);

export const legsOfTransaction = statement(
  'legs_of_transaction',
  ['int8'],
  columns,
  `select ${columnList} from settlements where transaction_id = $1 and status = 'sent' order by order_id for update`,
);

export const legByOrder = statement(
  'leg_by_order',
  ['text', 'text'],
  columns,
  `select ${columnList} from settlements where order_id = $1 and leg = $2`,
);

// Legs whose transaction has not been seen in a block for too long.
export const legsNotMined = statement(
  'legs_not_mined',
  ['int8', 'timestamptz', 'int8'],
  columns,
  `select ${columnList
    .split(', ')
    .map((column) => `l.${column}`)
    .join(', ')}
   from settlements l join sent_transactions t on t.transaction_id = l.transaction_id
   where l.chain_id = $1 and l.status = 'sent' and l.reason = '' and t.status = 'pending' and t.mined_hash = ''
     and t.created_at <= $2
   order by l.order_id limit $3`,
);

export const markReason = statement(
  'leg_mark_reason',
  ['text', 'text', 'text', 'timestamptz'],
  {},
  'update settlements set reason = $3, updated_at = $4 where order_id = $1 and leg = $2',
);

export const canonicalEvent = statement(
  'leg_canonical_event',
  ['text', 'text'],
  { tx_hash: 'text', is_final: 'bool' },
  'select tx_hash, is_final from chain_events where order_id = $1 and event_name = $2',
);
