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
/** The same columns of `settlements l`. */
const legColumnList = Object.keys(columns)
  .map((column) => `l.${column}`)
  .join(', ');

export const insertLeg = statement({
  name: 'leg_insert',
  parameters: { orderId: 'text', leg: 'text', sessionId: 'text', chainId: 'int8', retryAt: 'timestamptz' },
  text: `insert into settlements (order_id, leg, session_id, chain_id, status, retry_at, created_at, updated_at)
   values (:orderId, :leg, :sessionId, :chainId, 'waiting', :retryAt, :retryAt, :retryAt)
   on conflict (order_id, leg) do nothing`,
});
export type LegRow = Row<typeof waitingLegs>;

// A condition on `settlements l`. It excludes legs whose own chain, or whose payment's chain, is halted or stopped: a
// vault must not pay for an order that a reorg below finality may have undone. It excludes orders whose final payment is
// gone and has not returned, and for payouts and mints also those whose final settlement is gone.
const isDue = `l.status = 'waiting' and (l.held_at is null or l.released_at is not null)
     and not exists (
       select from orders o join chain_cursors c on c.chain_id in (l.chain_id, o.chain_id)
       where o.order_id = l.order_id and (c.halted_reason <> '' or c.stopped_reason <> ''))
     and not exists (
       select from dropped_events d where d.order_id = l.order_id and d.returned_at is null
         and (d.event_name = 'Paid' or (d.event_name = 'Settled' and l.leg in ('payout', 'mint'))))`;

export const waitingLegs = statement({
  name: 'legs_waiting',
  parameters: { chainId: 'int8', leg: 'text', now: 'timestamptz', limit: 'int8' },
  columns,
  text: `select ${legColumnList} from settlements l
   where l.chain_id = :chainId and l.leg = :leg and l.retry_at <= :now and ${isDue}
   order by l.retry_at, l.order_id limit :limit`,
});

export const markHeld = statement({
  name: 'leg_mark_held',
  parameters: { orderId: 'text', leg: 'text', reason: 'text', heldAt: 'timestamptz' },
  columns: { order_id: 'text' },
  text: `update settlements set held_at = :heldAt, reason = :reason, updated_at = :heldAt
   where order_id = :orderId and leg = :leg and status = 'waiting' and held_at is null returning order_id`,
});

// Locks in one order, so that two workers cannot deadlock. Skips rows that another worker has locked, and rows that must
// wait since they were read.
export const lockWaitingLegs = statement({
  name: 'legs_lock_waiting',
  parameters: { orderIds: 'text[]', leg: 'text' },
  columns,
  text: `select ${legColumnList} from settlements l
   where l.order_id = any (:orderIds) and l.leg = :leg and ${isDue}
   order by l.order_id for update of l skip locked`,
});

const recorded = sqlMove(legMoves, 'transaction_recorded');
export const markSent = statement({
  name: 'legs_mark_sent',
  parameters: { orderIds: 'text[]', leg: 'text', transactionId: 'int8?', updatedAt: 'timestamptz' },
  text: `update settlements set status = ${recorded.to}, transaction_id = :transactionId, attempts = attempts + 1, reason = '', updated_at = :updatedAt
   where order_id = any (:orderIds) and leg = :leg and status in (${recorded.from})`,
});

const concluded = sqlMove(legMoves, 'concluded');
export const markDone = statement({
  name: 'leg_mark_done',
  parameters: { orderId: 'text', leg: 'text', reason: 'text', updatedAt: 'timestamptz' },
  columns: { order_id: 'text' },
  text: `update settlements set status = ${concluded.to}, reason = :reason, updated_at = :updatedAt
   where order_id = :orderId and leg = :leg and status in (${concluded.from}) returning order_id`,
});

// Only legs that happened: one that was closed for a reason stays closed. A transaction that is pending again keeps
// carrying the leg.
const lost = sqlMove(legMoves, 'event_lost');
const lostWhilePending = sqlMove(legMoves, 'event_lost_transaction_pending');
export const markReopened = statement({
  name: 'leg_mark_reopened',
  parameters: { orderId: 'text', leg: 'text', retryAt: 'timestamptz' },
  text: `update settlements l
   set status = case when carrier.transaction_id is null then ${lost.to} else ${lostWhilePending.to} end,
     transaction_id = carrier.transaction_id, retry_at = :retryAt, updated_at = :retryAt
   from settlements own
     left join sent_transactions carrier
       on carrier.transaction_id = own.transaction_id and carrier.status = 'pending'
   where own.order_id = :orderId and own.leg = :leg and l.order_id = own.order_id and l.leg = own.leg
     and l.status in (${lost.from}) and l.reason = ''`,
});

// The transaction that carried the leg will never settle it, or none could be made. An attempt that sent nothing counts
// too, so that the pauses grow. Only if the leg is as it was when it failed: another worker may have sent it since.
const delayed = sqlMove(legMoves, 'delayed');
export const markWaiting = statement({
  name: 'leg_mark_waiting',
  parameters: {
    orderId: 'text',
    leg: 'text',
    reason: 'text',
    retryAt: 'timestamptz',
    updatedAt: 'timestamptz',
    fromStatus: 'text',
    transactionId: 'int8?',
  },
  columns: { order_id: 'text' },
  text: `update settlements set status = ${delayed.to}, transaction_id = null, reason = :reason, retry_at = :retryAt, updated_at = :updatedAt,
     attempts = case when status = 'waiting' then attempts + 1 else attempts end
   where order_id = :orderId and leg = :leg and status = :fromStatus and transaction_id is not distinct from :transactionId and status in (${delayed.from})
   returning order_id`,
});

export const legsOfTransaction = statement({
  name: 'legs_of_transaction',
  parameters: { transactionId: 'int8' },
  columns,
  text: `select ${columnList} from settlements where transaction_id = :transactionId and status = 'sent' order by order_id for update`,
});

export const legByOrder = statement({
  name: 'leg_by_order',
  parameters: { orderId: 'text', leg: 'text' },
  columns,
  text: `select ${columnList} from settlements where order_id = :orderId and leg = :leg`,
});

// Legs whose transaction is in no block for too long, or whose newest attempt every node refuses. Those of wallets that no longer settle come first. `wallets` are
// the wallets that settle now, in lower case.
export const legsNotMined = statement({
  name: 'legs_not_mined',
  parameters: {
    chainId: 'int8',
    leg: 'text',
    createdBefore: 'timestamptz',
    refusedBefore: 'timestamptz',
    limit: 'int8',
    wallets: 'text[]',
  },
  columns: { ...columns, is_followed: 'bool?' },
  text: `select ${legColumnList}, t.wallet = any (:wallets) as is_followed
   from settlements l join sent_transactions t on t.transaction_id = l.transaction_id
   where l.chain_id = :chainId and l.leg = :leg and l.status = 'sent' and t.status = 'pending'
     and (t.created_at <= :createdBefore or (t.created_at <= :refusedBefore and t.wallet = any (:wallets) and (
       select a.refusal from sent_attempts a where a.transaction_id = t.transaction_id order by a.max_fee desc limit 1) <> ''))
     and (t.wallet <> all (:wallets) or (l.reason = '' and t.mined_hash = ''))
   order by is_followed, l.order_id limit :limit`,
});

// Legs whose transaction has finally succeeded, and whose event is missing. A final event is stored together with what it
// closes, so the block was read without that event.
export const unreportedLegs = statement({
  name: 'legs_unreported',
  parameters: { chainId: 'int8', leg: 'text', now: 'timestamptz', limit: 'int8' },
  columns: { ...columns, mined_block: 'int8?', outcome_at: 'timestamptz' },
  text: `select ${legColumnList}, t.mined_block, t.updated_at as outcome_at
   from settlements l join sent_transactions t on t.transaction_id = l.transaction_id
   where l.chain_id = :chainId and l.leg = :leg and l.status = 'sent' and t.status = 'succeeded' and l.retry_at <= :now
     and t.mined_block is not null
     and not exists (
       select from chain_events e where e.order_id = l.order_id and e.is_final and e.event_name = case l.leg
         when 'settle' then 'Settled' when 'payout' then 'PaidOut' when 'mint' then 'Minted' else 'Refunded' end)
   order by t.mined_block, l.order_id limit :limit`,
});

export const postponeUnreported = statement({
  name: 'legs_put_off_unreported',
  parameters: { orderIds: 'text[]', leg: 'text', retryAts: 'timestamptz[]', updatedAt: 'timestamptz' },
  text: `update settlements l set attempts = l.attempts + 1, retry_at = given.retry_at, updated_at = :updatedAt
   from (
     select s.order_id, s.leg, given.retry_at
     from unnest(:orderIds::text[], :retryAts::timestamptz[]) as given (order_id, retry_at)
       join settlements s on s.order_id = given.order_id and s.leg = :leg
     where s.status = 'sent' order by s.order_id for update of s
   ) as given
   where l.order_id = given.order_id and l.leg = given.leg`,
});

// Legs of chains outside `chainIds`, the configured ones, that were not shown yet. Both indexes of open legs serve it.
export const legsOfOtherChains = statement({
  name: 'legs_of_other_chains',
  parameters: { chainIds: 'int8[]', limit: 'int8' },
  columns,
  text: `select ${columnList} from settlements
   where (status = 'waiting' or status = 'sent') and chain_id <> all (:chainIds) and reason = ''
   order by order_id, leg limit :limit`,
});

// Open settlements are few. An order has the exception once.
export const overdueSettlements = statement({
  name: 'legs_overdue',
  parameters: { nowSeconds: 'int8', limit: 'int8' },
  columns: { order_id: 'text', session_id: 'text' },
  text: `select l.order_id, l.session_id from settlements l join orders o on o.order_id = l.order_id
   where l.status in ('waiting', 'sent') and l.leg = 'settle'
     and o.pay_by + (o.reclaim_at - o.pay_by) / 2 <= :nowSeconds
     and not exists (select from exceptions e where e.order_id = l.order_id and e.kind = 'unsettled' and e.loss <> 'gone')
     and not exists (
       select from dropped_events d where d.order_id = l.order_id and d.event_name = 'Paid' and d.returned_at is null)
   order by l.order_id limit :limit`,
});

// Only while that transaction still carries the leg: its event may have closed the leg since it was read.
export const markNotMined = statement({
  name: 'leg_mark_not_mined',
  parameters: { orderId: 'text', leg: 'text', transactionId: 'int8?', updatedAt: 'timestamptz' },
  columns: { order_id: 'text' },
  text: `update settlements set reason = 'not_mined', updated_at = :updatedAt
   where order_id = :orderId and leg = :leg and transaction_id = :transactionId and status = 'sent' returning order_id`,
});

// The payouts of a chain's vaults that were sent or done since a time, in Micro-USD. The time is that of the leg's last
// change. A done payout counts from its finality on, which makes the cap stricter, never laxer. Released ones count too.
export const payoutsSince = statement({
  name: 'legs_payouts_since',
  parameters: { chainId: 'int8', since: 'timestamptz' },
  columns: { net_value: 'numeric' },
  text: `select coalesce(sum(o.net_value), 0) as net_value
   from settlements l join orders o on o.order_id = l.order_id
   where l.chain_id = :chainId and l.leg = 'payout' and l.status in ('sent', 'done') and l.updated_at > :since`,
});

// The oldest payout that the vault could not make, although it can make payouts of up to `mostNetValue` Micro-USD: others
// must not use up forever what it waits for. A leg that is not due keeps nothing from others. The standard vault pays for
// orders that name none.
export const oldestShortPayout = statement({
  name: 'legs_oldest_short_payout',
  parameters: {
    chainId: 'int8',
    settlementToken: 'text',
    createdBefore: 'timestamptz',
    mostNetValue: 'int8',
    vault: 'text',
    standardVault: 'text',
  },
  columns: { order_id: 'text', net_value: 'int8' },
  text: `select l.order_id, o.net_value
   from settlements l
   join orders o on o.order_id = l.order_id
   join sessions s on s.session_id = l.session_id
   where l.chain_id = :chainId and l.leg = 'payout' and l.reason = 'vault_short' and ${isDue}
     and s.settlement_token = :settlementToken and l.created_at <= :createdBefore and o.net_value <= :mostNetValue
     and lower(coalesce(nullif(o.payout_vault, ''), :standardVault)) = lower(:vault)
   order by l.created_at, l.order_id limit 1`,
});

// Sent payouts that are in no block yet, in Micro-USD, of one settlement token.
export const payoutsUnderWay = statement({
  name: 'legs_payouts_under_way',
  parameters: { chainId: 'int8', settlementToken: 'text' },
  columns: { net_value: 'numeric' },
  text: `select coalesce(sum(o.net_value), 0) as net_value
   from settlements l
   join sent_transactions t on t.transaction_id = l.transaction_id
   join orders o on o.order_id = l.order_id
   join sessions s on s.session_id = l.session_id
   where l.chain_id = :chainId and l.leg = 'payout' and l.status = 'sent' and t.status = 'pending' and t.mined_hash = ''
     and s.settlement_token = :settlementToken`,
});

/** A vault may have paid wrongly, too: one order can have several events of a name. */
export const finalEventsOfOrder = statement({
  name: 'leg_final_events',
  parameters: { orderId: 'text', eventNames: 'text[]' },
  columns: {
    chain_id: 'int8',
    event_name: 'text',
    tx_hash: 'text',
    block_time: 'timestamptz',
    arguments: 'jsonb',
  },
  text: `select chain_id, event_name, tx_hash, block_time, arguments from chain_events where order_id = :orderId and event_name = any (:eventNames) and is_final`,
});

export const attemptOfTransaction = statement({
  name: 'leg_attempt_of_transaction',
  parameters: { txHash: 'text', transactionId: 'int8' },
  columns: { tx_hash: 'text' },
  text: 'select tx_hash from sent_attempts where tx_hash = :txHash and transaction_id = :transactionId',
});
