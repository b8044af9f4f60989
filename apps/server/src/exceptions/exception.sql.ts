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
   set status = ${placed.to}, resolved_tx = :resolvedTx, resolved_block = :blockNumber, updated_at = :updatedAt
   where order_id = :orderId and kind = any (:kinds) and status in (${placed.from}) and resolved_tx = ''
     and (:tokenId = '' or token_id = :tokenId)`,
});

// Not where money that came later has an open exception of its own: it shows all that the address holds again.
const lost = sqlMove(exceptionMoves, 'return_lost');
export const reopenByLoss = statement({
  name: 'exception_reopen_by_loss',
  parameters: { orderId: 'text', lostTx: 'text', updatedAt: 'timestamptz' },
  columns: {},
  text: `update exceptions e
   set status = ${lost.to}, resolved_tx = '', resolved_block = null, updated_at = :updatedAt
   where order_id = :orderId and resolved_tx = :lostTx and status in (${lost.from})
     and (tx_hash <> '' or not exists (
       select from exceptions other where other.order_id = e.order_id and other.kind = e.kind and other.token_id = e.token_id
         and other.tx_hash = '' and other.resolved_tx = ''))`,
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
  },
  text: `select exception_id, kind, amount_in_token, decision, resolved_tx, resolved_block from exceptions
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
