import { statement } from '@florin/pg';
import { sqlMove } from '@florin/protocol/machine.ts';
import { awaitLock, awaitLockOf } from '#db/advisory-lock.ts';
import { depositMoveTransitions } from './deposit-move.machine.ts';

const additions = depositMoveTransitions.filter(({ isAddition }) => isAddition !== false);
/** Collections and returns. */
const others = depositMoveTransitions.filter(({ isAddition }) => isAddition !== true);

export const ordersToLookAt = statement(
  'deposit_orders_to_look_at',
  ['int8', 'int8', 'int8', 'int8', 'text', 'int8'],
  { order_id: 'text', pay_by: 'int8' },
  `select order_id, pay_by from orders
   where chain_id = $1 and pay_by >= $2 and pay_by < $3 and (pay_by, order_id) > ($4, $5)
   order by pay_by, order_id limit $6`,
);

export const moveOfOrder = statement(
  'deposit_move',
  ['text', 'text', 'text'],
  { status: 'text' },
  'select status from deposit_moves where order_id = $1 and move = $2 and token = $3',
);

// Of several orders of a session one is paid, and what lies at the addresses of the others goes back to their payers.
export const moveBesideOrder = statement(
  'deposit_move_beside',
  ['text', 'text'],
  { order_id: 'text' },
  `select m.order_id from orders o join deposit_moves m on m.order_id = o.order_id
   where o.session_id = $1 and m.order_id <> $2
     and (m.move = 'add' and m.status <> 'failed' or m.move = 'collect' and m.status = 'sent')
   limit 1`,
);

// All orders of a session use up one key on a chain: while one is being collected, the collection of another would revert.
export const collectionBesideOrder = statement(
  'deposit_collection_beside',
  ['text', 'text', 'int8'],
  { order_id: 'text' },
  `select m.order_id from orders o join deposit_moves m on m.order_id = o.order_id
   where o.session_id = $1 and m.order_id <> $2 and o.chain_id = $3 and m.move = 'collect' and m.status = 'sent'
   limit 1`,
);

// Puts additions in line, so that what they come to in a day is never more than it may be.
export const lockAdditions = statement(
  'deposit_lock_additions',
  [],
  { locked: 'bool?' },
  `select true as locked from ${awaitLock('depositAdditions')}`,
);

// In Micro-USD, by what each order's total is worth.
export const addedSince = statement(
  'deposit_added_since',
  ['timestamptz'],
  { added: 'numeric' },
  `select coalesce(sum(ceil(m.amount * o.total_value / o.total)), 0) as added
   from deposit_moves m join orders o on o.order_id = m.order_id
   where m.move = 'add' and m.status <> 'failed' and m.updated_at > $1`,
);

// Puts moves that share a budget in line until their transactions end.
export const lockDepositGas = statement(
  'deposit_lock_gas',
  ['text'],
  { locked: 'bool?' },
  `select true as locked from ${awaitLockOf('depositGas', '$1::text')}`,
);

export const spentDepositGas = statement(
  'deposit_spent_gas',
  ['text', 'text[]', 'timestamptz', 'text'],
  { gas: 'numeric', payer_gas: 'numeric' },
  `select coalesce(sum(gas_limit), 0) as gas, coalesce(sum(gas_limit) filter (where payer = $4), 0) as payer_gas
   from deposit_moves where seller = $1 and move = any ($2) and sent_at > $3`,
);

// For the operator's look, now and then: reads all moves of a day.
export const sellersBySpentGas = statement(
  'deposit_sellers_by_spent_gas',
  ['text[]', 'timestamptz', 'numeric', 'int8'],
  { seller: 'text', gas: 'numeric' },
  `select seller, sum(gas_limit) as gas from deposit_moves
   where move = any ($1) and sent_at > $2 and seller <> '' group by seller having sum(gas_limit) > $3
   order by gas desc, seller limit $4`,
);

export const insertMove = statement(
  'deposit_move_insert',
  [
    ...(['text', 'text', 'text', 'int8', 'int8', 'timestamptz', 'numeric', 'text', 'int8'] as const),
    ...(['timestamptz', 'text'] as const),
  ],
  {},
  // Gas of the same move adds up while it is repeated within a day.
  `insert into deposit_moves
     (order_id, move, token, chain_id, status, transaction_id, created_at, updated_at, amount, seller, gas_limit,
      sent_at, payer)
   values ($1, $2, $3, $4, 'sent', $5, $6, $6, $7, $8, $9, $6, $11)
   on conflict (order_id, move, token) do update set status = 'sent', transaction_id = $5, updated_at = $6, amount = $7,
     seller = $8, sent_at = $6, payer = $11,
     gas_limit = $9::int8 + case when deposit_moves.sent_at > $10 then deposit_moves.gas_limit else 0 end`,
);

// Of wallets that are followed no more. Never additions: their transaction may be mined yet, and money is added once.
const released = sqlMove(others, 'wallet_dropped');
export const releaseMoves = statement(
  'deposit_moves_release',
  ['text[]', 'timestamptz', 'timestamptz'],
  { order_id: 'text' },
  `update deposit_moves m set status = ${released.to}, updated_at = $3
   from (
     select m.order_id, m.move, m.token
     from deposit_moves m join sent_transactions t on t.transaction_id = m.transaction_id
     where m.status in (${released.from}) and m.move <> 'add' and m.updated_at < $2
       and t.status = 'pending' and t.wallet <> all ($1)
     order by m.order_id, m.move, m.token for update of m) as found
   where m.order_id = found.order_id and m.move = found.move and m.token = found.token
   returning m.order_id`,
);

// Additions of such wallets stay as they are and are never made again, but are waited for no more: nothing tells what became
// of them. When they were made counts for the sum of their day.
const left = sqlMove(additions, 'wallet_dropped');
export const leaveAdditions = statement(
  'deposit_additions_leave',
  ['text[]', 'timestamptz'],
  {},
  `update deposit_moves m set status = ${left.to}
   from (
     select m.order_id, m.move, m.token
     from deposit_moves m join sent_transactions t on t.transaction_id = m.transaction_id
     where m.status in (${left.from}) and m.move = 'add' and m.updated_at < $2
       and t.status = 'pending' and t.wallet <> all ($1)
     order by m.order_id, m.move, m.token for update of m) as found
   where m.order_id = found.order_id and m.move = found.move and m.token = found.token`,
);

// Never additions, which are booked by then: their transactions are followed, and booked once.
const takenBack = sqlMove(others, 'outcome_taken_back');
export const reopenMoves = statement(
  'deposit_moves_reopen',
  ['int8[]', 'timestamptz'],
  {},
  `update deposit_moves m set status = ${takenBack.to}, updated_at = $2
   from (
     select order_id, move, token from deposit_moves
     where transaction_id = any ($1) and status in (${takenBack.from}) and move <> 'add'
     order by order_id, move, token for update) as found
   where m.order_id = found.order_id and m.move = found.move and m.token = found.token`,
);

// An unfollowed addition has the same outcomes as one that is on its way.
const succeeded = sqlMove(additions, 'transaction_succeeded');
export const concludeMove = statement(
  'deposit_move_conclude',
  ['int8', 'text', 'timestamptz'],
  { order_id: 'text', amount: 'numeric' },
  `update deposit_moves set status = $2, updated_at = $3 where transaction_id = $1 and status in (${succeeded.from})
   returning order_id, amount`,
);
