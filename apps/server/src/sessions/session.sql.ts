import { isWithinBudget, type Row, statement } from '@florin/pg';
import { type CountedListName, listsOf } from '#db/counted-list.ts';
import { filteredList, pageColumns, pageParameters, pageText, wholeList } from '#db/list-page.ts';

/** The columns that are read of a session. */
export const sessionColumns = {
  session_id: 'text',
  merchant_id: 'text',
  session_type: 'text',
  business_id: 'text',
  business_type: 'text',
  client_code: 'text',
  account_id: 'text',
  account_version: 'text',
  recipient: 'text',
  settlement_token: 'text',
  fee_model: 'int4',
  amount: 'int8',
  line_items: 'text',
  payer_email_required: 'bool',
  success_url: 'text',
  cancel_url: 'text',
  auto_return: 'text',
  custom_success_text: 'text',
  metadata: 'text',
  meta_data: 'text',
  channel_id: 'text',
  intended_payer: 'text',
  intended_token: 'text',
  chosen_total: 'int8?',
  expiration_time: 'timestamptz',
  signed_once: 'bool',
  status: 'text',
  pending_reason: 'text',
  payer: 'text',
  payer_email: 'text',
  paid_token: 'text',
  receipt_id: 'text',
  receipt_merchant_name: 'text',
  receipt_legal_name: 'text',
  order_id: 'text',
  is_late: 'bool',
  initiate_tx: 'text',
  complete_tx: 'text',
  payment_succeeded_at: 'timestamptz?',
  settlement_succeeded_at: 'timestamptz?',
  refunded_amount: 'int8',
  shown_order_id: 'text',
  created_at: 'timestamptz',
} as const;

const columnList = Object.keys(sessionColumns).join(', ');
const prefixedColumnList = Object.keys(sessionColumns)
  .map((column) => `s.${column}`)
  .join(', ');

export const sessionById = statement({
  name: 'session_by_id',
  parameters: { sessionId: 'text' },
  columns: sessionColumns,
  text: `select ${columnList} from sessions where session_id = :sessionId`,
});

export const sessionsByIds = statement({
  name: 'sessions_by_ids',
  parameters: { sessionIds: 'text[]' },
  columns: sessionColumns,
  text: `select ${columnList} from sessions where session_id = any(:sessionIds)`,
});

export type SessionRow = Row<typeof sessionById>;

// The row lock serializes all moves and events of a session, such as cancel and prepare.
export const lockSessionById = statement({
  name: 'session_lock',
  parameters: { sessionId: 'text' },
  columns: sessionColumns,
  text: `select ${columnList} from sessions where session_id = :sessionId for update`,
});

const { line_items: _items, metadata: _metadata, ...stateColumns } = sessionColumns;

/** Without items and metadata, which can take 80 kB of a session. */
export const sessionStatesByIds = statement({
  name: 'session_states_by_ids',
  parameters: { sessionIds: 'text[]' },
  columns: stateColumns,
  text: `select ${Object.keys(stateColumns).join(', ')} from sessions where session_id = any(:sessionIds)`,
});
export type SessionStateRow = Row<typeof sessionStatesByIds>;

const { line_items: _, ...otherColumns } = sessionColumns;
const otherColumnList = Object.keys(otherColumns).join(', ');
/** Line items are null beyond the limit of bytes. */
const columnsOfPage = { ...otherColumns, line_items: 'text?', ...pageColumns } as const;
const itemsBytes = 'octet_length(line_items)';

const sessionList = {
  id: 'session_id',
  columns: `${otherColumnList}, case when is_read then line_items end as line_items`,
  shown: (rows: string) =>
    `select *, ${isWithinBudget(itemsBytes, 'ordinal desc')} as is_read from (${rows}) as shown`,
} as const;

export const selectSessionPage = statement({
  name: 'session_page',
  parameters: pageParameters,
  columns: columnsOfPage,
  text: pageText({ ...sessionList, ...wholeList('sessions') }),
});

const filteredPage = (list: CountedListName) =>
  statement({
    name: `session_page_of_${list}`,
    parameters: { ...pageParameters, values: 'text[]' },
    columns: columnsOfPage,
    text: pageText({ ...sessionList, ...filteredList(list) }),
  });
const filteredPages = new Map(listsOf('sessions').map((list) => [list, filteredPage(list)]));

/** A page of the sessions that have the values of a list's filters. */
export function filteredSessionPage(list: CountedListName): ReturnType<typeof filteredPage> {
  const page = filteredPages.get(list);
  if (page === undefined) throw new Error(`${list} is no list of sessions`);
  return page;
}

// The first of the given sessions, as many as the limit of bytes allows.
export const itemsOfSessions = statement({
  name: 'session_items',
  parameters: { sessionIds: 'text[]' },
  columns: { session_id: 'text', line_items: 'text' },
  text: `select session_id, line_items from (
     select session_id, line_items, position, ${isWithinBudget(itemsBytes, 'position')} as is_read
     from unnest(:sessionIds::text[]) with ordinality as wanted (wanted_id, position)
     join sessions on session_id = wanted_id
   ) as sized where is_read order by position`,
});

/** A receipt gets the merchant's names with its number, and keeps both. */
const nameAtReceipt = (column: string, name: string) =>
  `case when :receiptId in (receipt_id, '') then ${column} else coalesce((${name} where p.merchant_id = sessions.merchant_id), '') end`;

// The old status is in the where clause: a move that lost a race changes nothing, and its caller throws.
export const updateSession = statement({
  name: 'session_update',
  parameters: {
    sessionId: 'text',
    fromStatus: 'text',
    status: 'text',
    signedOnce: 'bool',
    pendingReason: 'text',
    payer: 'text',
    payerEmail: 'text',
    paidToken: 'text',
    receiptId: 'text',
    orderId: 'text',
    initiateTx: 'text',
    completeTx: 'text',
    paymentSucceededAt: 'timestamptz?',
    settlementSucceededAt: 'timestamptz?',
    updatedAt: 'timestamptz',
    refundedAmount: 'int8',
    isLate: 'bool',
  },
  columns: { receipt_merchant_name: 'text', receipt_legal_name: 'text' },
  text: `update sessions set status = :status, signed_once = :signedOnce, pending_reason = :pendingReason, payer = :payer, payer_email = :payerEmail,
       paid_token = :paidToken, receipt_id = :receiptId, order_id = :orderId, initiate_tx = :initiateTx, complete_tx = :completeTx,
       payment_succeeded_at = :paymentSucceededAt, settlement_succeeded_at = :settlementSucceededAt, updated_at = :updatedAt, refunded_amount = :refundedAmount,
       is_late = :isLate,
       receipt_merchant_name = ${nameAtReceipt('receipt_merchant_name', 'select p.merchant_name from merchants p')},
       receipt_legal_name = ${nameAtReceipt('receipt_legal_name', 'select p.legal_name from branding p')}
     where session_id = :sessionId and status = :fromStatus returning receipt_merchant_name, receipt_legal_name`,
});

// Only while the session waits for its payment: later its page shows no address.
export const updateShownOrder = statement({
  name: 'session_shown_order_set',
  parameters: { sessionId: 'text', orderId: 'text' },
  text: `update sessions set shown_order_id = :orderId where session_id = :sessionId and status = 'initialized'`,
});

/** The first rows of a locking query, as many as the limit of bytes allows. A later round finds the others. */
function withinBudget(found: string): string {
  return `with found as (${found})
   select ${columnList} from (
     select *, ${isWithinBudget('(octet_length(line_items) + octet_length(metadata))', 'expiration_time, session_id')}
       as is_read
     from found
   ) as sized where is_read`;
}

/**
 * Sessions whose payment a reorg below finality took back, and whose order a final block can no longer pay. Left out are orders
 * whose settlement was final and whose merchant is paid by a transaction of its own: that may be on another chain, or come
 * again. A session whose payment returns meanwhile has another reason once its row is locked.
 */
export const lapsedPayments = statement({
  name: 'session_payments_lapsed',
  parameters: { arrivingApart: 'int4[]', limit: 'int8' },
  columns: sessionColumns,
  text: withinBudget(`select ${prefixedColumnList} from sessions s
     join orders o on o.order_id = s.order_id join chain_cursors c on c.chain_id = o.chain_id
   where s.status = 'settlement_pending' and s.pending_reason = 'payment_reorged'
     and o.order_id in (select order_id from dropped_events where event_name = 'Paid' and returned_at is null)
     and c.halted_reason = '' and not c.is_resync_due and extract(epoch from c.final_time) > o.pay_by
     and not exists (select from chain_events e where e.order_id = o.order_id and e.event_name = 'Paid')
     and not (o.order_type = any (:arrivingApart) and exists (
       select from dropped_events d where d.order_id = o.order_id and d.event_name = 'Settled'))
   order by s.expiration_time limit :limit for update of s skip locked`),
});

// Unsigned sessions expire by our clock: no payer holds an order for them. skip locked: the next round checks a session
// whose order is being prepared now.
export const expirableUnsigned = statement({
  name: 'session_expirable_unsigned',
  parameters: { now: 'timestamptz', limit: 'int8' },
  columns: sessionColumns,
  text: withinBudget(
    `select ${columnList} from sessions
     where status = 'initialized' and not signed_once and expiration_time <= :now
     order by expiration_time limit :limit for update skip locked`,
  ),
});

// Whether a session may still be paid: it has an order whose deadline no final block of its chain has passed (orders that
// only the service collects included), a payment in a canonical block, or a deposit that is being collected. After a
// restore, a signed session without known orders may have any of these.
export const payableOrders = statement({
  name: 'session_payable_orders',
  parameters: { sessionId: 'text' },
  columns: { is_any: 'bool' },
  text: `select not exists (select from orders where session_id = :sessionId)
     or exists (
       select from orders o left join chain_cursors c on c.chain_id = o.chain_id
       where o.session_id = :sessionId
         and (c.final_time is null or c.halted_reason <> '' or extract(epoch from c.final_time) <= o.pay_by))
     or exists (
       select from orders o join chain_events e on e.order_id = o.order_id and e.event_name = 'Paid'
       where o.session_id = :sessionId)
     or exists (
       select from orders o join deposit_moves m on m.order_id = o.order_id
       where o.session_id = :sessionId and m.move in ('collect', 'add') and m.status = 'sent') as is_any`,
});

// Signed sessions expire by the chains' clocks. A final block of each signed order's chain is later than its deadline, no
// order has a payment in a canonical block, and no deposit is being added to or collected, or was added to (perhaps by a
// wallet that is not followed any more) and still waits for its collection. Orders that only the service collects do not
// count: a later deposit to them is late.
export const expirableSigned = statement({
  name: 'session_expirable_signed',
  parameters: { limit: 'int8' },
  columns: sessionColumns,
  text: withinBudget(`select ${prefixedColumnList} from sessions s
   where s.status = 'initialized' and s.signed_once
     and s.expiration_time < (select max(final_time) from chain_cursors)
     and not exists (
       select from orders o left join chain_cursors c on c.chain_id = o.chain_id
       where o.session_id = s.session_id and o.signature <> '0x'
         and (c.final_time is null or c.halted_reason <> '' or extract(epoch from c.final_time) <= o.pay_by))
     and not exists (
       select from orders o join chain_events e on e.order_id = o.order_id and e.event_name = 'Paid'
       where o.session_id = s.session_id)
     and not exists (
       select from orders o join deposit_moves m on m.order_id = o.order_id
         left join chain_cursors c on c.chain_id = o.chain_id
       where o.session_id = s.session_id
         and (m.move in ('collect', 'add') and m.status = 'sent'
           or m.move = 'add' and m.status in ('succeeded', 'unfollowed')
             and (c.final_time is null or extract(epoch from c.final_time) <= o.pay_by)))
   order by s.expiration_time limit :limit for update of s skip locked`),
});
