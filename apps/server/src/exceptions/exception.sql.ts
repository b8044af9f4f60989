import { type Row, statement } from '@florin/pg';
import { sqlMove } from '@florin/protocol/machine.ts';
import { listPlace, pageSize } from '#db/list-page.ts';
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

// A chain that is read again, or an address that is looked at again, raises nothing twice.
export const insertException = statement(
  'exception_insert',
  [
    'text',
    'text',
    'text',
    'text',
    'text',
    'text',
    'numeric',
    'text',
    'text',
    'text',
    'timestamptz',
    'text',
    'timestamptz',
  ],
  columns,
  `insert into exceptions (exception_id, merchant_id, session_id, order_id, kind, token_id, amount_in_token, payer,
     tx_hash, status, created_at, updated_at, decision, decide_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13)
   on conflict (order_id, kind, token_id) do nothing
   returning ${columnList}`,
);
export type ExceptionRow = Row<typeof insertException>;

// Exceptions are few: counting them costs less than keeping a count.
export const exceptionPage = statement(
  'exception_page',
  ['text', 'int8', 'int8', 'text'],
  { ...columns, total: 'int8?', is_listed: 'bool' },
  `with ${listPlace({
    list: 'exceptions',
    total: '(select count(*) from exceptions where merchant_id = $1)',
    condition: 'merchant_id = $1',
    skip: '$3',
    after: { idColumn: 'exception_id', id: '$4' },
  })}
   select ${columnList}, place.total, exception_id is not null as is_listed
   from place left join lateral (
     select ordinal, ${columnList} from exceptions
     where merchant_id = $1 and ordinal <= (select ordinal from first_row)
     order by ordinal desc limit ${pageSize('$2')}
   ) as page on true
   order by page.ordinal desc`,
);

export const exceptionById = statement(
  'exception_by_id',
  ['text', 'text'],
  columns,
  `select ${columnList} from exceptions where merchant_id = $1 and exception_id = $2`,
);

const marked = sqlMove(exceptionMoves, 'marked_resolved');
export const resolveException = statement(
  'exception_resolve',
  ['text', 'text', 'timestamptz'],
  { exception_id: 'text' },
  `update exceptions set status = ${marked.to}, updated_at = $3
   where merchant_id = $1 and exception_id = $2 and status in (${marked.from})
   returning exception_id`,
);

const placed = sqlMove(exceptionMoves, 'money_placed');
export const resolveByEvent = statement(
  'exception_resolve_by_event',
  ['text', 'text[]', 'text', 'text', 'timestamptz'],
  {},
  `update exceptions set status = ${placed.to}, resolved_tx = $4, updated_at = $5
   where order_id = $1 and kind = any ($2) and status in (${placed.from}) and ($3 = '' or token_id = $3)`,
);

// By their orders, which the sessions' index finds: exceptions have none of their own.
export const exceptionsOfSessions = statement(
  'exceptions_of_sessions',
  ['text[]'],
  columns,
  `select ${Object.keys(columns)
    .map((column) => `e.${column}`)
    .join(', ')}
   from orders o join exceptions e on e.order_id = o.order_id where o.session_id = any ($1) order by e.ordinal`,
);

// The row lock lets one of two decisions win; the other one then reads what stands.
export const lockException = statement(
  'exception_lock',
  ['text', 'text'],
  { ...columns, total: 'numeric', most_added: 'numeric', paid_order_id: 'text' },
  `select ${Object.keys(columns)
    .map((column) => `e.${column}`)
    .join(', ')}, o.total, coalesce(t.most_added, 0) as most_added, s.order_id as paid_order_id
   from exceptions e join orders o on o.order_id = e.order_id join sessions s on s.session_id = o.session_id
     left join deposit_terms t on t.order_id = e.order_id
   where e.merchant_id = $1 and e.exception_id = $2 for update of e`,
);

export const decideException = statement(
  'exception_decide',
  ['text', 'text', 'timestamptz'],
  {},
  'update exceptions set decision = $2, updated_at = $3 where exception_id = $1',
);

export const decisionsOfOrders = statement(
  'exception_decisions',
  ['text[]'],
  { order_id: 'text', kind: 'text', decision: 'text' },
  `select order_id, kind, decision from exceptions where order_id = any ($1) and decision <> '' order by updated_at`,
);

// Somebody may send more before anything is decided.
export const updateHeldAmount = statement(
  'exception_update_amount',
  ['text', 'text', 'text', 'numeric', 'timestamptz'],
  {},
  `update exceptions set amount_in_token = $4, updated_at = $5
   where order_id = $1 and kind = $2 and token_id = $3 and amount_in_token <> $4 and status = 'open' and decision = ''`,
);
