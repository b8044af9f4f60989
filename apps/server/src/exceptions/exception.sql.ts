import { type Row, statement } from '@florin/pg';
import { sqlMove } from '@florin/protocol/machine.ts';
import { pageColumns, pageParameters, pageText } from '#db/list-page.ts';
import { exceptionMoves } from './exception.machine.ts';

const columns = {
  exception_id: 'text',
  session_id: 'text',
  order_id: 'text',
  kind: 'text',
  token_id: 'text',
  amount_in_token: 'numeric',
  payer: 'text',
  tx_hash: 'text',
  status: 'text',
  resolved_tx: 'text',
  decision: 'text',
  decide_by: 'timestamptz?',
  loss: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

const columnList = Object.keys(columns).join(', ');

// A chain or an address that is read again raises nothing twice.
export const insertException = statement({
  name: 'exception_insert',
  parameters: {
    exceptionId: 'text',
    merchantId: 'text',
    sessionId: 'text',
    orderId: 'text',
    kind: 'text',
    tokenId: 'text',
    amountInToken: 'numeric',
    payer: 'text',
    txHash: 'text',
    status: 'text',
    createdAt: 'timestamptz',
    decision: 'text',
    decideBy: 'timestamptz?',
  },
  columns,
  text: `insert into exceptions (exception_id, merchant_id, session_id, order_id, kind, token_id, amount_in_token, payer,
     tx_hash, status, created_at, updated_at, decision, decide_by)
   values (:exceptionId, :merchantId, :sessionId, :orderId, :kind, :tokenId, :amountInToken, :payer, :txHash, :status, :createdAt, :createdAt, :decision, :decideBy)
   on conflict do nothing
   returning ${columnList}`,
});
export type ExceptionRow = Row<typeof insertException>;

// There are few exceptions, so counting them costs less than keeping a count.
export const exceptionPage = statement({
  name: 'exception_page',
  parameters: pageParameters,
  columns: { ...columns, ...pageColumns },
  text: pageText({
    table: 'exceptions',
    id: 'exception_id',
    total: '(select count(*) from exceptions where merchant_id = :merchantId)',
    condition: 'merchant_id = :merchantId',
    columns: columnList,
  }),
});

// For the operator's screens. A page costs what it skips; there are few exceptions.
export const exceptionsOfAll = statement({
  name: 'exceptions_of_all',
  parameters: { status: 'text', limit: 'int8', skip: 'int8' },
  columns: { merchant_id: 'text', ...columns },
  text: `select merchant_id, ${columnList} from exceptions where :status = '' or status = :status
   order by ordinal desc limit :limit offset :skip`,
});

export const exceptionById = statement({
  name: 'exception_by_id',
  parameters: { merchantId: 'text', exceptionId: 'text' },
  columns,
  text: `select ${columnList} from exceptions where merchant_id = :merchantId and exception_id = :exceptionId`,
});

const marked = sqlMove(exceptionMoves, 'marked_resolved');
export const resolveException = statement({
  name: 'exception_resolve',
  parameters: { merchantId: 'text', exceptionId: 'text', updatedAt: 'timestamptz' },
  columns: { exception_id: 'text' },
  text: `update exceptions set status = ${marked.to}, updated_at = :updatedAt
   where merchant_id = :merchantId and exception_id = :exceptionId and status in (${marked.from})
   returning exception_id`,
});

const placed = sqlMove(exceptionMoves, 'money_placed');
export const resolveByEvent = statement({
  name: 'exception_resolve_by_event',
  parameters: {
    orderId: 'text',
    kinds: 'text[]',
    tokenId: 'text',
    resolvedTx: 'text',
    blockNumber: 'int8',
    updatedAt: 'timestamptz',
  },
  text: `update exceptions
   set status = ${placed.to}, resolved_tx = :resolvedTx, resolved_block = :blockNumber, loss = '', updated_at = :updatedAt
   where order_id = :orderId and kind = any (:kinds) and status in (${placed.from}) and resolved_tx = ''
     and (:tokenId = '' or token_id = :tokenId)`,
});

// Not where money that came later has an open exception of its own: it shows all that the address holds again. The deposit may
// be gone with its return.
const lost = sqlMove(exceptionMoves, 'return_lost');
export const reopenByLoss = statement({
  name: 'exception_reopen_by_loss',
  parameters: { orderId: 'text', lostTx: 'text', updatedAt: 'timestamptz' },
  columns: {},
  text: `update exceptions e
   set status = ${lost.to}, resolved_tx = '', resolved_block = null,
     loss = case when tx_hash = '' then 'possible' else '' end, updated_at = :updatedAt
   where order_id = :orderId and resolved_tx = :lostTx and status in (${lost.from})
     and (tx_hash <> '' or not exists (
       select from exceptions other where other.order_id = e.order_id and other.kind = e.kind and other.token_id = e.token_id
         and other.tx_hash = '' and other.resolved_tx = ''))`,
});

// Money at addresses that got a transfer in the reverted blocks may be gone. Before those transfers are forgotten.
export const doubtDeposits = statement({
  name: 'exceptions_doubt',
  parameters: { chainId: 'int8', above: 'int8', updatedAt: 'timestamptz' },
  text: `update exceptions set loss = 'possible', updated_at = :updatedAt
   where tx_hash = '' and resolved_tx = '' and loss = ''
     and order_id in (select order_id from deposit_transfers where chain_id = :chainId and block_number > :above)`,
});

// A payment that a reorg took back may have been collected again from what was too much before.
export const doubtSurplus = statement({
  name: 'exceptions_doubt_surplus',
  parameters: { orderIds: 'text[]', updatedAt: 'timestamptz' },
  text: `update exceptions set loss = 'possible', updated_at = :updatedAt
   where order_id = any (:orderIds) and kind = 'overpaid' and tx_hash = '' and resolved_tx = '' and loss = ''`,
});

// Without those whose address got a transfer above the final block: it tells later whether that is there.
export const doubtedDeposits = statement({
  name: 'exceptions_doubted',
  parameters: { chainId: 'int8', limit: 'int8' },
  columns: { exception_id: 'text', order_id: 'text', session_id: 'text', token_id: 'text' },
  text: `select e.exception_id, e.order_id, e.session_id, e.token_id
   from exceptions e
     join orders o on o.order_id = e.order_id
   where e.loss = 'possible' and o.chain_id = :chainId
     and not exists (
       select from deposit_sightings d join chain_cursors c on c.chain_id = d.chain_id
       where d.order_id = e.order_id and d.block_number > c.final_number)
   order by e.updated_at, e.exception_id limit :limit`,
});

const takenBack = sqlMove(exceptionMoves, 'money_lost');
export const loseDeposit = statement({
  name: 'exception_lose_deposit',
  parameters: { exceptionId: 'text', updatedAt: 'timestamptz' },
  text: `update exceptions set status = ${takenBack.to}, loss = 'gone', updated_at = :updatedAt
   where exception_id = :exceptionId and status in (${takenBack.from}) and loss = 'possible' and resolved_tx = ''`,
});

// An accepted deposit keeps its amount.
export const keepDeposit = statement({
  name: 'exception_keep_deposit',
  parameters: { exceptionId: 'text', amountInToken: 'numeric', updatedAt: 'timestamptz' },
  text: `update exceptions
   set loss = '', amount_in_token = case when decision = 'accept' then amount_in_token else :amountInToken end,
     updated_at = :updatedAt
   where exception_id = :exceptionId and loss = 'possible' and resolved_tx = ''`,
});

// Of a payment, which is a second one or waits for its settlement: without its event, no money is in the gateway.
export const losePayment = statement({
  name: 'exception_lose_payment',
  parameters: { orderIds: 'text[]', updatedAt: 'timestamptz' },
  text: `update exceptions set status = ${takenBack.to}, loss = 'gone', updated_at = :updatedAt
   where order_id = any (:orderIds) and kind in ('duplicate', 'duplicate_settled', 'unsettled') and tx_hash <> ''
     and status in (${takenBack.from}) and resolved_tx = ''`,
});

// At most one row of a kind, by the unique indexes.
const back = sqlMove(exceptionMoves, 'money_back');
export const reopenByMoney = statement({
  name: 'exception_reopen_by_money',
  parameters: {
    orderId: 'text',
    kind: 'text',
    tokenId: 'text',
    amountInToken: 'numeric',
    txHash: 'text',
    updatedAt: 'timestamptz',
    decision: 'text',
    decideBy: 'timestamptz?',
  },
  columns,
  text: `update exceptions
   set status = ${back.to}, loss = '', amount_in_token = :amountInToken, tx_hash = :txHash, updated_at = :updatedAt,
     decision = case :decision when '' then decision else :decision end, decide_by = coalesce(:decideBy, decide_by)
   where order_id = :orderId and kind = :kind and token_id = :tokenId and (tx_hash = '') = (:txHash = '')
     and status in (${back.from}) and loss = 'gone' and resolved_tx = ''
   returning ${columnList}`,
});

// Money of which no final block tells at the moment whether it is there: its chain is halted and had it in a block that is
// kept, or blocks were reverted.
export const exceptionsInDoubt = statement({
  name: 'exceptions_in_doubt',
  parameters: { orderIds: 'text[]' },
  columns: { exception_id: 'text' },
  text: `select e.exception_id
   from exceptions e
     join orders o on o.order_id = e.order_id
     left join chain_cursors c on c.chain_id = o.chain_id
   where e.order_id = any (:orderIds) and e.resolved_tx = '' and (e.loss = 'possible' or (c.halted_reason <> '' or c.is_resync_due) and (
     e.tx_hash = '' and exists (
       select from deposit_transfers t
         join chain_blocks b on b.chain_id = t.chain_id and b.block_number = t.block_number
       where t.order_id = e.order_id)
     or e.tx_hash <> '' and exists (
       select from chain_events p
         join chain_blocks b on b.chain_id = p.chain_id and b.block_number = p.block_number
       where p.order_id = e.order_id and p.event_name = 'Paid')))`,
});

// By their orders, which the index on sessions finds: exceptions have no index by session.
export const exceptionsOfSessions = statement({
  name: 'exceptions_of_sessions',
  parameters: { sessionIds: 'text[]' },
  columns,
  text: `select ${Object.keys(columns)
    .map((column) => `e.${column}`)
    .join(', ')}
   from orders o join exceptions e on e.order_id = o.order_id where o.session_id = any (:sessionIds) order by e.ordinal`,
});

export type LockedException = Row<typeof lockException>;

// The row lock lets one of two decisions win; the other then reads the winner.
export const lockException = statement({
  name: 'exception_lock',
  parameters: { merchantId: 'text', exceptionId: 'text' },
  columns: { ...columns, total: 'numeric', most_added: 'numeric', paid_order_id: 'text' },
  text: `select ${Object.keys(columns)
    .map((column) => `e.${column}`)
    .join(', ')}, o.total, coalesce(t.most_added, 0) as most_added, s.order_id as paid_order_id
   from exceptions e join orders o on o.order_id = e.order_id join sessions s on s.session_id = o.session_id
     left join deposit_terms t on t.order_id = e.order_id
   where e.merchant_id = :merchantId and e.exception_id = :exceptionId for update of e`,
});

export const decideException = statement({
  name: 'exception_decide',
  parameters: { exceptionId: 'text', decision: 'text', updatedAt: 'timestamptz' },
  text: 'update exceptions set decision = :decision, updated_at = :updatedAt where exception_id = :exceptionId',
});

export const decisionsOfOrders = statement({
  name: 'exception_decisions',
  parameters: { orderIds: 'text[]' },
  columns: { order_id: 'text', kind: 'text', decision: 'text' },
  text: `select order_id, kind, decision from exceptions where order_id = any (:orderIds) and decision <> '' order by updated_at`,
});

// All that an order's address ever held in one token without paying.
export const depositExceptions = statement({
  name: 'exceptions_of_deposit',
  parameters: { orderId: 'text', tokenId: 'text' },
  columns: {
    exception_id: 'text',
    kind: 'text',
    amount_in_token: 'numeric',
    decision: 'text',
    resolved_tx: 'text',
    resolved_block: 'int8?',
    loss: 'text',
  },
  text: `select exception_id, kind, amount_in_token, decision, resolved_tx, resolved_block, loss from exceptions
   where order_id = :orderId and token_id = :tokenId and tx_hash = '' order by ordinal`,
});

// A payer may send more before the money goes back.
export const showAmount = statement({
  name: 'exception_show_amount',
  parameters: { exceptionId: 'text', amountInToken: 'numeric', updatedAt: 'timestamptz' },
  columns,
  text: `update exceptions set amount_in_token = :amountInToken, updated_at = :updatedAt
   where exception_id = :exceptionId returning ${columnList}`,
});
