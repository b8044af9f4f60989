import { statement } from '@florin/pg';
import { sqlMove } from '@florin/protocol/machine.ts';
import { awaitLock, turnOf } from '#db/advisory-lock.ts';
import { depositMoveTransitions } from './deposit-move.machine.ts';

const additions = depositMoveTransitions.filter(({ isAddition }) => isAddition !== false);
/** Collections and returns. */
const others = depositMoveTransitions.filter(({ isAddition }) => isAddition !== true);

export const ordersToCheck = statement({
  name: 'deposit_orders_to_look_at',
  parameters: {
    chainId: 'int8',
    fromPayBy: 'int8',
    untilPayBy: 'int8',
    afterPayBy: 'int8',
    afterOrderId: 'text',
    limit: 'int8',
  },
  columns: { order_id: 'text', pay_by: 'int8' },
  text: `select order_id, pay_by from orders
   where chain_id = :chainId and pay_by >= :fromPayBy and pay_by < :untilPayBy and (pay_by, order_id) > (:afterPayBy, :afterOrderId)
   order by pay_by, order_id limit :limit`,
});

export const moveOfOrder = statement({
  name: 'deposit_move',
  parameters: { orderId: 'text', move: 'text', token: 'text' },
  columns: { status: 'text' },
  text: 'select status from deposit_moves where order_id = :orderId and move = :move and token = :token',
});

// One order of a session is paid; the money at the addresses of the others goes back to their payers.
export const moveOfAnotherOrder = statement({
  name: 'deposit_move_beside',
  parameters: { sessionId: 'text', orderId: 'text' },
  columns: { order_id: 'text' },
  text: `select m.order_id from orders o join deposit_moves m on m.order_id = o.order_id
   where o.session_id = :sessionId and m.order_id <> :orderId
     and (m.move = 'add' and m.status <> 'failed' or m.move = 'collect' and m.status = 'sent')
   limit 1`,
});

// All orders of a session share one key on a chain: while one is collected, the collection of another would revert.
export const collectionOfAnotherOrder = statement({
  name: 'deposit_collection_beside',
  parameters: { sessionId: 'text', orderId: 'text', chainId: 'int8' },
  columns: { order_id: 'text' },
  text: `select m.order_id from orders o join deposit_moves m on m.order_id = o.order_id
   where o.session_id = :sessionId and m.order_id <> :orderId and o.chain_id = :chainId and m.move = 'collect' and m.status = 'sent'
   limit 1`,
});

// Serializes additions, so that together they stay below the limit of a day.
export const lockAdditions = statement({
  name: 'deposit_lock_additions',
  columns: { locked: 'bool?' },
  text: `select true as locked from ${awaitLock('depositAdditions')}`,
});

// In Micro-USD, by the value of each order's total.
export const addedSince = statement({
  name: 'deposit_added_since',
  parameters: { since: 'timestamptz' },
  columns: { added: 'numeric' },
  text: `select coalesce(sum(ceil(greatest(m.amount, 0) * o.total_value / o.total)), 0) as added
   from deposit_moves m join orders o on o.order_id = m.order_id
   where m.move = 'add' and m.status <> 'failed' and m.updated_at > :since`,
});

// Serializes moves that share a budget until their transactions end.
export const lockDepositGas = turnOf('depositGas');

export const spentDepositGas = statement({
  name: 'deposit_spent_gas',
  parameters: { seller: 'text', moves: 'text[]', since: 'timestamptz', payer: 'text' },
  columns: { gas: 'numeric', payer_gas: 'numeric' },
  text: `select coalesce(sum(gas_limit), 0) as gas, coalesce(sum(gas_limit) filter (where payer = :payer), 0) as payer_gas
   from deposit_moves where seller = :seller and move = any (:moves) and sent_at > :since`,
});

// Reads all moves of a day: only for operators.
export const sellersBySpentGas = statement({
  name: 'deposit_sellers_by_spent_gas',
  parameters: { moves: 'text[]', since: 'timestamptz', moreThan: 'numeric', limit: 'int8' },
  columns: { seller: 'text', gas: 'numeric' },
  text: `select seller, sum(gas_limit) as gas from deposit_moves
   where move = any (:moves) and sent_at > :since and seller <> '' group by seller having sum(gas_limit) > :moreThan
   order by gas desc, seller limit :limit`,
});

export const insertMove = statement({
  name: 'deposit_move_insert',
  parameters: {
    orderId: 'text',
    move: 'text',
    token: 'text',
    chainId: 'int8',
    transactionId: 'int8',
    createdAt: 'timestamptz',
    amount: 'numeric',
    seller: 'text',
    gasLimit: 'int8',
    gasSince: 'timestamptz',
    payer: 'text',
  },
  text: // Gas of the same move adds up while it is repeated within a day.
  `insert into deposit_moves
     (order_id, move, token, chain_id, status, transaction_id, created_at, updated_at, amount, seller, gas_limit,
      sent_at, payer)
   values (:orderId, :move, :token, :chainId, 'sent', :transactionId, :createdAt, :createdAt, :amount, :seller, :gasLimit, :createdAt, :payer)
   on conflict (order_id, move, token) do update set status = 'sent', transaction_id = :transactionId, updated_at = :createdAt, amount = :amount,
     seller = :seller, sent_at = :createdAt, payer = :payer,
     gas_limit = :gasLimit::int8 + case when deposit_moves.sent_at > :gasSince then deposit_moves.gas_limit else 0 end`,
});

// Moves of wallets that are no longer followed, except additions: their transaction may still be mined, and money is
// added once.
const released = sqlMove(others, 'wallet_dropped');
export const releaseMoves = statement({
  name: 'deposit_moves_release',
  parameters: { wallets: 'text[]', updatedBefore: 'timestamptz', updatedAt: 'timestamptz' },
  columns: { order_id: 'text' },
  text: `update deposit_moves m set status = ${released.to}, updated_at = :updatedAt
   from (
     select m.order_id, m.move, m.token
     from deposit_moves m join sent_transactions t on t.transaction_id = m.transaction_id
     where m.status in (${released.from}) and m.move <> 'add' and m.updated_at < :updatedBefore
       and t.status = 'pending' and t.wallet <> all (:wallets)
     order by m.order_id, m.move, m.token for update of m) as found
   where m.order_id = found.order_id and m.move = found.move and m.token = found.token
   returning m.order_id`,
});

// Additions of such wallets have no known outcome: they are never repeated and no longer waited for. Their time stays, so
// that they count in the sum of their day.
const left = sqlMove(additions, 'wallet_dropped');
export const abandonAdditions = statement({
  name: 'deposit_additions_leave',
  parameters: { wallets: 'text[]', updatedAt: 'timestamptz' },
  text: `update deposit_moves m set status = ${left.to}
   from (
     select m.order_id, m.move, m.token
     from deposit_moves m join sent_transactions t on t.transaction_id = m.transaction_id
     where m.status in (${left.from}) and m.move = 'add' and m.updated_at < :updatedAt
       and t.status = 'pending' and t.wallet <> all (:wallets)
     order by m.order_id, m.move, m.token for update of m) as found
   where m.order_id = found.order_id and m.move = found.move and m.token = found.token`,
});

// Except additions, which are booked by then, and booked once.
const takenBack = sqlMove(others, 'outcome_taken_back');
export const reopenMoves = statement({
  name: 'deposit_moves_reopen',
  parameters: { transactionIds: 'int8[]', updatedAt: 'timestamptz' },
  text: `update deposit_moves m set status = ${takenBack.to}, updated_at = :updatedAt
   from (
     select order_id, move, token from deposit_moves
     where transaction_id = any (:transactionIds) and status in (${takenBack.from}) and move <> 'add'
     order by order_id, move, token for update) as found
   where m.order_id = found.order_id and m.move = found.move and m.token = found.token`,
});

// An unfollowed addition has the same outcomes as one that is on its way.
const succeeded = sqlMove(additions, 'transaction_succeeded');
export const concludeMove = statement({
  name: 'deposit_move_conclude',
  parameters: { transactionId: 'int8', status: 'text', updatedAt: 'timestamptz' },
  columns: { order_id: 'text', amount: 'numeric' },
  text: `update deposit_moves set status = :status, updated_at = :updatedAt where transaction_id = :transactionId and status in (${succeeded.from})
   returning order_id, amount`,
});
