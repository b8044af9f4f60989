import { statement } from '@florin/pg';

// With the hash of the watcher's block at the same height, if it still has one.
export const positionOfSearch = statement({
  name: 'deposit_search_place',
  parameters: { chainId: 'int8' },
  columns: { block_number: 'int8', block_hash: 'text', stored_hash: 'text' },
  text: `select s.block_number, s.block_hash, coalesce(b.block_hash, s.block_hash) as stored_hash
   from deposit_searches s
     left join chain_blocks b on b.chain_id = s.chain_id and b.block_number = s.block_number
   where s.chain_id = :chainId`,
});

export const moveSearch = statement({
  name: 'deposit_search_move',
  parameters: { chainId: 'int8', blockNumber: 'int8', blockHash: 'text' },
  text: `insert into deposit_searches (chain_id, block_number, block_hash) values (:chainId, :blockNumber, :blockHash)
   on conflict (chain_id) do update set block_number = :blockNumber, block_hash = :blockHash`,
});

export const returnSearch = statement({
  name: 'deposit_search_return',
  parameters: { chainId: 'int8', blockNumber: 'int8', blockHash: 'text' },
  text: `update deposit_searches set block_number = :blockNumber, block_hash = :blockHash
   where chain_id = :chainId and block_number > :blockNumber`,
});

// Reads no sessions, so that the number of rows does not grow with open, paid or expired orders.
export const receiversToName = statement({
  name: 'deposit_receivers_to_name',
  parameters: { chainId: 'int8', payBy: 'int8', limit: 'int8' },
  columns: { receiver: 'text?', pay_by: 'int8' },
  text: `select receiver, pay_by from orders where chain_id = :chainId and pay_by >= :payBy
   order by pay_by desc, order_id desc limit :limit`,
});

// One index lookup for each address. Locks rows in one order, so that two workers do not deadlock.
export const recordDepositedOrders = statement({
  name: 'deposit_orders_sight',
  parameters: {
    chainId: 'int8',
    receivers: 'text[]',
    fromPayBy: 'int8',
    openUntil: 'int8',
    blockNumber: 'int8',
  },
  columns: { order_id: 'text', is_open: 'bool' },
  text: `with found as (
     select o.order_id, o.pay_by, o.pay_by >= :openUntil and s.status = 'initialized' and s.initiate_tx = '' as is_open
     from orders o join sessions s on s.session_id = o.session_id
     where o.chain_id = :chainId and o.receiver = any (:receivers) and o.pay_by >= :fromPayBy
   ), sighted as (
     insert into deposit_sightings (order_id, chain_id, pay_by, block_number)
     select order_id, :chainId, pay_by, :blockNumber from found order by order_id
     on conflict (order_id) do update set block_number = greatest(deposit_sightings.block_number, :blockNumber)
   )
   select order_id, is_open from found order by order_id`,
});

// A range that is searched once more shows the same transfers.
export const recordTransfers = statement({
  name: 'deposit_transfers_add',
  parameters: {
    chainId: 'int8',
    fromPayBy: 'int8',
    seenAt: 'timestamptz',
    receivers: 'text[]',
    tokens: 'text[]',
    amounts: 'numeric[]',
    txHashes: 'text[]',
    logIndexes: 'int8[]',
    blockNumbers: 'int8[]',
  },
  text: `insert into deposit_transfers (order_id, chain_id, token, amount, tx_hash, log_index, block_number, seen_at)
   select o.order_id, :chainId, given.token, given.amount, given.tx_hash, given.log_index, given.block_number, :seenAt
   from unnest(:receivers::text[], :tokens::text[], :amounts::numeric[], :txHashes::text[], :logIndexes::int8[],
       :blockNumbers::int8[]) as given (receiver, token, amount, tx_hash, log_index, block_number)
     join orders o on o.chain_id = :chainId and o.receiver = given.receiver and o.pay_by >= :fromPayBy
   order by o.order_id, given.tx_hash, given.log_index
   on conflict (order_id, tx_hash, log_index) do nothing`,
});

export const forgetTransfers = statement({
  name: 'deposit_transfers_forget',
  parameters: { chainId: 'int8', blockNumber: 'int8' },
  text: 'delete from deposit_transfers where chain_id = :chainId and block_number > :blockNumber',
});

export const collectionsOfOrders = statement({
  name: 'deposit_collections_of_orders',
  parameters: { orderIds: 'text[]' },
  columns: { order_id: 'text' },
  text: `select order_id from deposit_moves
   where order_id = any (:orderIds) and move = 'collect' and status <> 'failed'`,
});

// Anyone may send to an address, so the number is limited.
export const transfersOfSession = statement({
  name: 'deposit_transfers_of_session',
  parameters: { sessionId: 'text', limit: 'int8' },
  columns: {
    chain_id: 'int8',
    token: 'text',
    amount: 'numeric',
    tx_hash: 'text',
    block_number: 'int8',
    seen_at: 'timestamptz',
    is_final: 'bool',
  },
  text: `select t.chain_id, t.token, t.amount, t.tx_hash, t.block_number, t.seen_at,
     coalesce(t.block_number <= c.final_number, false) as is_final
   from orders o
     join deposit_transfers t on t.order_id = o.order_id
     left join chain_cursors c on c.chain_id = t.chain_id
   where o.session_id = :sessionId and t.amount > 0
   order by t.seen_at, t.chain_id, t.block_number, t.log_index limit :limit`,
});

// Amounts of short deposits in the newest block. Locks rows in one order, so that two loops do not deadlock.
export const showNewestAmounts = statement({
  name: 'deposit_amounts_newest',
  parameters: { orderIds: 'text[]', amounts: 'numeric[]' },
  text: `update deposit_sightings d set amount = greatest(d.final_amount, found.amount)
   from (
     select s.order_id, given.amount
     from unnest(:orderIds::text[], :amounts::numeric[]) as given (order_id, amount)
       join deposit_sightings s on s.order_id = given.order_id
     order by s.order_id for update of s) as found
   where d.order_id = found.order_id`,
});

// A transfer in a later block than the final one still counts in the newest amount. Adds addresses whose transfer nodes
// left out.
export const showFinalAmounts = statement({
  name: 'deposit_amounts_final',
  parameters: { orderIds: 'text[]', amounts: 'numeric[]', blockNumber: 'int8' },
  text: `insert into deposit_sightings as d (order_id, chain_id, pay_by, block_number, amount, final_amount)
   select o.order_id, o.chain_id, o.pay_by, :blockNumber, given.amount, given.amount
   from unnest(:orderIds::text[], :amounts::numeric[]) as given (order_id, amount)
     join orders o on o.order_id = given.order_id
   order by o.order_id
   on conflict (order_id) do update set final_amount = excluded.final_amount,
     amount = case when d.block_number <= :blockNumber then excluded.amount else greatest(d.amount, excluded.amount) end
   where d.final_amount <> excluded.final_amount or d.block_number <= :blockNumber and d.amount <> excluded.amount`,
});

// For sessions that wait for their payment, until the moment that their payers know, and for expired ones the money that no
// exception shows yet. An address with terms of its own belongs to an order that is payable for longer. Without the session's
// secret, only the page that asked shows it.
export const depositsOfSessions = statement({
  name: 'deposits_of_sessions',
  parameters: { sessionIds: 'text[]', now: 'int8' },
  columns: {
    session_id: 'text',
    order_id: 'text',
    wallet_order_id: 'text',
    token_id: 'text',
    receiver: 'text',
    total: 'numeric',
    amount: 'numeric',
    final_amount: 'numeric',
    pay_until: 'int8',
    only_for: 'text',
    is_over: 'bool',
    late_until: 'int8?',
    is_late_accepted: 'bool',
    is_in_doubt: 'bool',
  },
  text: `select o.session_id, o.order_id, coalesce(w.order_id, o.order_id) as wallet_order_id, o.token_id,
     coalesce(o.receiver, '') as receiver, o.total, d.amount, d.final_amount, coalesce(w.pay_by, o.pay_by) as pay_until,
     case when o.with_secret or s.shown_order_id = coalesce(w.order_id, o.order_id) then ''
       else coalesce(w.order_id, o.order_id) end as only_for,
     s.status = 'expired' as is_over, case when t.late_payment <> 'return' then o.pay_by end as late_until,
     coalesce(t.late_payment = 'accept', false) as is_late_accepted,
     coalesce(c.halted_reason <> '' or c.is_resync_due, false) as is_in_doubt
   from sessions s
     join orders o on o.session_id = s.session_id
     left join chain_cursors c on c.chain_id = o.chain_id
     join deposit_sightings d on d.order_id = o.order_id
     left join deposit_terms t on t.order_id = o.order_id
     left join orders w on w.order_id = t.wallet_order_id
   where s.session_id = any (:sessionIds) and s.initiate_tx = '' and d.amount > 0
     and (s.status = 'initialized' and coalesce(w.pay_by, o.pay_by) >= :now
       or s.status = 'expired'
         and not exists (select from exceptions e where e.order_id = o.order_id and e.token_id = o.token_id and e.loss <> 'gone'))
   order by o.order_id`,
});

// What was sent to addresses of sessions with a payment, without the payment that was collected there. Balances would still
// include it until the next final one is read. Omits orders whose payment a reorg took back: it is collected there once more.
export const surplusOfSessions = statement({
  name: 'deposit_surplus_of_sessions',
  parameters: { sessionIds: 'text[]' },
  columns: {
    session_id: 'text',
    order_id: 'text',
    token_id: 'text',
    with_secret: 'bool',
    amount: 'numeric',
  },
  text: `select o.session_id, o.order_id, o.token_id, o.with_secret, sum(t.amount) - case when exists (
       select from deposit_moves m where m.order_id = o.order_id and m.move = 'collect' and m.status <> 'failed')
       then o.total else 0 end as amount
   from sessions s
     join orders o on o.session_id = s.session_id
     join deposit_transfers t on t.order_id = o.order_id and t.token = lower(o.token)
   where s.session_id = any (:sessionIds) and s.initiate_tx <> ''
     and not exists (select from exceptions e where e.order_id = o.order_id and e.token_id = o.token_id and e.loss <> 'gone')
     and not exists (
       select from dropped_events d where d.order_id = o.order_id and d.event_name = 'Paid' and d.returned_at is null)
   group by o.order_id
   order by o.order_id`,
});

// The order that a wallet pays, of an address that its payer may know and that waits for the rest.
export const receivedOrderOfSession = statement({
  name: 'deposit_received_order',
  parameters: { sessionId: 'text', end: 'text', now: 'int8' },
  columns: { order_id: 'text' },
  text: `select coalesce(w.order_id, o.order_id) as order_id
   from orders o
     join deposit_sightings d on d.order_id = o.order_id
     left join deposit_terms t on t.order_id = o.order_id
     left join orders w on w.order_id = t.wallet_order_id
   where o.session_id = :sessionId and o.with_secret and d.amount > 0 and coalesce(w.pay_by, o.pay_by) >= :now
     and right(o.receiver, 4) = lower(:end)
   order by o.order_id limit 1`,
});

export const ordersWithTransfer = statement({
  name: 'deposit_orders_sighted',
  parameters: { chainId: 'int8', fromPayBy: 'int8', afterPayBy: 'int8', afterOrderId: 'text', limit: 'int8' },
  columns: { order_id: 'text', pay_by: 'int8' },
  text: `select order_id, pay_by from deposit_sightings
   where chain_id = :chainId and pay_by >= :fromPayBy and (pay_by, order_id) > (:afterPayBy, :afterOrderId)
   order by pay_by, order_id limit :limit`,
});

// Removes addresses that are empty at a final block, and those past their time. A transfer in a later block keeps its row.
export const removeSightings = statement({
  name: 'deposit_sightings_end',
  parameters: { chainId: 'int8', orderIds: 'text[]', blockNumber: 'int8', payBy: 'int8' },
  text: `delete from deposit_sightings
   where chain_id = :chainId and (order_id = any (:orderIds) and block_number <= :blockNumber or pay_by < :payBy)`,
});

// Open orders that are older than the stored receivers.
export const ordersWithoutReceiver = statement({
  name: 'deposit_orders_without_receiver',
  parameters: { chainId: 'int8', payBy: 'int8', limit: 'int8' },
  columns: { order_id: 'text', gateway: 'text' },
  text: `select order_id, gateway from orders
   where chain_id = :chainId and pay_by >= :payBy and receiver is null order by pay_by limit :limit`,
});

export const setReceivers = statement({
  name: 'deposit_receivers_set',
  parameters: { orderIds: 'text[]', receivers: 'text[]' },
  text: `update orders o set receiver = given.receiver
   from unnest(:orderIds::text[], :receivers::text[]) as given (order_id, receiver)
   where o.order_id = given.order_id and o.receiver is null`,
});
