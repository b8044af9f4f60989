import { type Row, statement } from '@florin/pg';
import { sqlMove } from '@florin/protocol/machine.ts';
import { legMoves } from './leg.machine.ts';

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
  created_at: 'timestamptz',
  released_at: 'timestamptz?',
} as const;

const columnList = Object.keys(columns).join(', ');
/** The same of `settlements l`. */
const legColumnList = Object.keys(columns)
  .map((column) => `l.${column}`)
  .join(', ');

export const insertLeg = statement(
  'leg_insert',
  ['text', 'text', 'text', 'int8', 'timestamptz'],
  {},
  `insert into settlements (order_id, leg, session_id, chain_id, status, retry_at, created_at, updated_at)
   values ($1, $2, $3, $4, 'waiting', $5, $5, $5)
   on conflict (order_id, leg) do nothing`,
);
export type LegRow = Row<typeof waitingLegs>;

// Of `settlements l`. Not those of a chain whose breaker has tripped, be it where the leg is sent or where the payment stood: a
// vault must not pay for an order that a reorg below finality may have undone. Nor those of an order whose final payment, or for
// what comes after the settlement, whose final settlement, is gone and has not come back.
const isDue = `l.status = 'waiting' and (l.held_at is null or l.released_at is not null)
     and not exists (
       select from orders o join chain_cursors c on c.chain_id in (l.chain_id, o.chain_id)
       where o.order_id = l.order_id and (c.halted_reason <> '' or c.stopped_reason <> ''))
     and not exists (
       select from dropped_events d where d.order_id = l.order_id and d.returned_at is null
         and (d.event_name = 'Paid' or (d.event_name = 'Settled' and l.leg in ('payout', 'mint'))))`;

export const waitingLegs = statement(
  'legs_waiting',
  ['int8', 'text', 'timestamptz', 'int8'],
  columns,
  `select ${legColumnList} from settlements l
   where l.chain_id = $1 and l.leg = $2 and l.retry_at <= $3 and ${isDue}
   order by l.retry_at, l.order_id limit $4`,
);

export const markHeld = statement(
  'leg_mark_held',
  ['text', 'text', 'text', 'timestamptz'],
  { order_id: 'text' },
  `update settlements set held_at = $4, reason = $3, updated_at = $4
   where order_id = $1 and leg = $2 and status = 'waiting' and held_at is null returning order_id`,
);

// Taken in one order, so that two workers cannot deadlock; rows that another worker holds are left to it, and so are those
// that are to wait since they were read.
export const lockWaitingLegs = statement(
  'legs_lock_waiting',
  ['text[]', 'text'],
  columns,
  `select ${legColumnList} from settlements l
   where l.order_id = any ($1) and l.leg = $2 and ${isDue}
   order by l.order_id for update of l skip locked`,
);

const recorded = sqlMove(legMoves, 'transaction_recorded');
export const markSent = statement(
  'legs_mark_sent',
  ['text[]', 'text', 'int8', 'timestamptz'],
  {},
  `update settlements set status = ${recorded.to}, transaction_id = $3, attempts = attempts + 1, reason = '', updated_at = $4
   where order_id = any ($1) and leg = $2 and status in (${recorded.from})`,
);

const concluded = sqlMove(legMoves, 'concluded');
export const markDone = statement(
  'leg_mark_done',
  ['text', 'text', 'text', 'timestamptz'],
  { order_id: 'text' },
  `update settlements set status = ${concluded.to}, reason = $3, updated_at = $4
   where order_id = $1 and leg = $2 and status in (${concluded.from}) returning order_id`,
);

// Only legs that an event had closed as done: one that was closed for a reason stays closed. Where the transaction that did
// it is followed again, it goes on carrying the leg.
const lost = sqlMove(legMoves, 'event_lost');
const lostWhilePending = sqlMove(legMoves, 'event_lost_transaction_pending');
export const markReopened = statement(
  'leg_mark_reopened',
  ['text', 'text', 'timestamptz'],
  {},
  `update settlements l
   set status = case when carrier.transaction_id is null then ${lost.to} else ${lostWhilePending.to} end,
     transaction_id = carrier.transaction_id, retry_at = $3, updated_at = $3
   from settlements own
     left join sent_transactions carrier
       on carrier.transaction_id = own.transaction_id and carrier.status = 'pending'
   where own.order_id = $1 and own.leg = $2 and l.order_id = own.order_id and l.leg = own.leg
     and l.status in (${lost.from}) and l.reason = ''`,
);

// Back to waiting: the transaction that carried the leg will never settle it, or none could be made. A try that ended
// before anything was sent counts, too, so that the next ones come ever later. Only as the leg was when it failed ($6, $7):
// another worker may have sent it since.
const delayed = sqlMove(legMoves, 'delayed');
export const markWaiting = statement(
  'leg_mark_waiting',
  ['text', 'text', 'text', 'timestamptz', 'timestamptz', 'text', 'int8'],
  { order_id: 'text' },
  `update settlements set status = ${delayed.to}, transaction_id = null, reason = $3, retry_at = $4, updated_at = $5,
     attempts = case when status = 'waiting' then attempts + 1 else attempts end
   where order_id = $1 and leg = $2 and status = $6 and transaction_id is not distinct from $7 and status in (${delayed.from})
   returning order_id`,
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

// Legs whose transaction has not been seen in a block for too long, those first that nobody follows: of another wallet
// than those that settle now ($5, lower case).
export const legsNotMined = statement(
  'legs_not_mined',
  ['int8', 'text', 'timestamptz', 'int8', 'text[]'],
  { ...columns, is_followed: 'bool?' },
  `select ${legColumnList}, t.wallet = any ($5) as is_followed
   from settlements l join sent_transactions t on t.transaction_id = l.transaction_id
   where l.chain_id = $1 and l.leg = $2 and l.status = 'sent' and t.status = 'pending' and t.created_at <= $3
     and (t.wallet <> all ($5) or (l.reason = '' and t.mined_hash = ''))
   order by is_followed, l.order_id limit $4`,
);

// Legs whose transaction has succeeded for good, and whose event has not come: what is final and what it closes are stored
// together, so it stands in a block that was read without it.
export const untoldLegs = statement(
  'legs_untold',
  ['int8', 'text', 'timestamptz', 'int8'],
  { ...columns, mined_block: 'int8?', outcome_at: 'timestamptz' },
  `select ${legColumnList}, t.mined_block, t.updated_at as outcome_at
   from settlements l join sent_transactions t on t.transaction_id = l.transaction_id
   where l.chain_id = $1 and l.leg = $2 and l.status = 'sent' and t.status = 'succeeded' and l.retry_at <= $3
     and t.mined_block is not null
     and not exists (
       select from chain_events e where e.order_id = l.order_id and e.is_final and e.event_name = case l.leg
         when 'settle' then 'Settled' when 'payout' then 'PaidOut' when 'mint' then 'Minted' else 'Refunded' end)
   order by t.mined_block, l.order_id limit $4`,
);

export const putOffUntold = statement(
  'legs_put_off_untold',
  ['text[]', 'text', 'timestamptz[]', 'timestamptz'],
  {},
  `update settlements l set attempts = l.attempts + 1, retry_at = given.retry_at, updated_at = $4
   from (
     select s.order_id, s.leg, given.retry_at
     from unnest($1::text[], $3::timestamptz[]) as given (order_id, retry_at)
       join settlements s on s.order_id = given.order_id and s.leg = $2
     where s.status = 'sent' order by s.order_id for update of s
   ) as given
   where l.order_id = given.order_id and l.leg = given.leg`,
);

// Legs of chains that are not configured ($1 lists those that are), until they are shown. Both indexes of open legs serve it.
export const legsOfOtherChains = statement(
  'legs_of_other_chains',
  ['int8[]', 'int8'],
  columns,
  `select ${columnList} from settlements
   where (status = 'waiting' or status = 'sent') and chain_id <> all ($1) and reason = ''
   order by order_id, leg limit $2`,
);

// Only while that transaction still carries the leg: its event may have closed the leg since it was looked up.
export const markNotMined = statement(
  'leg_mark_not_mined',
  ['text', 'text', 'int8', 'timestamptz'],
  { order_id: 'text' },
  `update settlements set reason = 'not_mined', updated_at = $4
   where order_id = $1 and leg = $2 and transaction_id = $3 and status = 'sent' returning order_id`,
);

// What vaults of a chain have been told to pay since $2, or have paid, in Micro-USD. Known by when the leg was last touched:
// a payout that is done counts from its finality on, which makes the cap stricter, never laxer. Released ones count, too.
export const payoutsSince = statement(
  'legs_payouts_since',
  ['int8', 'timestamptz'],
  { net_value: 'numeric' },
  `select coalesce(sum(o.net_value), 0) as net_value
   from settlements l join orders o on o.order_id = l.order_id
   where l.chain_id = $1 and l.leg = 'payout' and l.status in ('sent', 'done') and l.updated_at > $2`,
);

// The oldest payout that the vault ($5) could not make although it can make one so large ($4, Micro-USD): others must not use
// up for ever what it waits for. One that would not be sent anyway keeps nothing from others. Orders that name no vault are
// paid by $6.
export const oldestShortPayout = statement(
  'legs_oldest_short_payout',
  ['int8', 'text', 'timestamptz', 'int8', 'text', 'text'],
  { order_id: 'text', net_value: 'int8' },
  `select l.order_id, o.net_value
   from settlements l
   join orders o on o.order_id = l.order_id
   join sessions s on s.session_id = l.session_id
   where l.chain_id = $1 and l.leg = 'payout' and l.reason = 'vault_short' and ${isDue}
     and s.settlement_token = $2 and l.created_at <= $3 and o.net_value <= $4
     and lower(coalesce(nullif(o.payout_vault, ''), $6)) = lower($5)
   order by l.created_at, l.order_id limit 1`,
);

// What vaults have been told to pay and may not have paid yet, in Micro-USD by settlement token.
export const payoutsUnderWay = statement(
  'legs_payouts_under_way',
  ['int8', 'text'],
  { net_value: 'numeric' },
  `select coalesce(sum(o.net_value), 0) as net_value
   from settlements l
   join sent_transactions t on t.transaction_id = l.transaction_id
   join orders o on o.order_id = l.order_id
   join sessions s on s.session_id = l.session_id
   where l.chain_id = $1 and l.leg = 'payout' and l.status = 'sent' and t.status = 'pending' and t.mined_hash = ''
     and s.settlement_token = $2`,
);

export const finalEventOfOrder = statement(
  'leg_final_event',
  ['text', 'text[]'],
  { event_name: 'text', tx_hash: 'text', block_time: 'timestamptz' },
  `select event_name, tx_hash, block_time from chain_events where order_id = $1 and event_name = any ($2) and is_final limit 1`,
);

export const attemptOfTransaction = statement(
  'leg_attempt_of_transaction',
  ['text', 'int8'],
  { tx_hash: 'text' },
  'select tx_hash from sent_attempts where tx_hash = $1 and transaction_id = $2',
);
