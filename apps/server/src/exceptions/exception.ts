import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { ExceptionKind, PaymentException } from '@florin/protocol/exception.ts';
import { newId } from '@florin/protocol/id.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { type ListPage, type ListRequest, pageValues, readPage } from '#db/list-page.ts';
import type { DepositPolicy } from '#orders/context.ts';
import { mostAddedTo } from '#orders/deposit-terms.ts';
import { findOrder } from '#orders/order.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { Clock } from '#outside/clock.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { fullView, type SessionJsonOptions, sessionJson } from '#sessions/session-json.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { Log } from '#telemetry/log.ts';
import { emit } from '#webhooks/outbox.ts';
import {
  decideException,
  decisionsOfOrders,
  type ExceptionRow,
  exceptionById,
  exceptionPage,
  exceptionsOfAll,
  exceptionsOfSessions,
  insertException,
  type LockedException,
  lockException,
  reopenByMoney,
  resolveException,
} from './exception.sql.ts';

/** What this room needs of the process that it runs in. */
export interface ExceptionContext extends SessionMoveContext {
  readonly log: Log;
}

/** An exception that a payment has caused. */
export interface RaisedException {
  readonly session: StoredSession;
  readonly order: StoredOrder;
  readonly kind: ExceptionKind;
  /** The money in question; the order's own token and total when absent. */
  readonly money?: { readonly tokenId: string; readonly amount: bigint };
  /** Empty if no single transaction shows it. */
  readonly txHash: string;
  /** The decision of the link's policy; undecided when absent. */
  readonly decision?: ExceptionDecision;
  /** The last moment in which the merchant can decide; without it there is nothing to decide. */
  readonly decideBy?: Date;
}

/** The decision about money that came late or short. */
export type ExceptionDecision = 'accept' | 'refund';

/** Kinds that end at once: the payer has the money back already. */
const settledKinds: ReadonlySet<ExceptionKind> = new Set(['refunded', 'reclaimed']);

/**
 * Stores an exception, with an event for the merchant and a line in the log. One whose money a reorg had taken back is opened
 * again instead. False when it exists already: a payment's, or one for money that is still at its address
 * (`deposit-exception.ts`). The caller holds the session's row lock.
 */
export async function raise(
  transaction: Transaction,
  deps: ExceptionContext,
  raised: RaisedException,
): Promise<boolean> {
  const { session, order, kind, txHash } = raised;
  const { tokenId, amount } = raised.money ?? { tokenId: order.tokenId, amount: order.order.total };
  const money = {
    ...{ orderId: order.orderId, kind, tokenId, amountInToken: amount, txHash },
    ...{ decision: raised.decision ?? '', decideBy: raised.decideBy ?? null },
  };
  const now = deps.clock.now();
  const [again] = await transaction.query(reopenByMoney, { ...money, updatedAt: now });
  const [row = again] = await transaction.query(insertException, {
    ...money,
    exceptionId: newId('exception', deps.random.bytes),
    merchantId: session.merchantId,
    sessionId: session.sessionId,
    payer: order.order.payer,
    status: settledKinds.has(kind) ? 'resolved' : 'open',
    createdAt: now,
  });
  if (row === undefined) return false;
  await tell(transaction, deps, session, row);
  return true;
}

/** Tells the merchant of an exception, or of its larger amount, by an event. The log gets a line. */
export async function tell(
  transaction: Transaction,
  deps: ExceptionContext,
  session: StoredSession,
  row: ExceptionRow,
): Promise<void> {
  const { order_id: orderId, tx_hash: txHash } = row;
  deps.log.warn(`payment.${row.kind}`, { sessionId: session.sessionId, orderId, txHash });
  const {
    status: _status,
    resolvedTx: _tx,
    isGone: _gone,
    sessionId: _id,
    createAt: _c,
    updateAt: _u,
    ...shown
  } = exceptionOf(row);
  const view = fullView(deps.origin);
  const dataOf = (options: SessionJsonOptions) =>
    `{"exception":${JSON.stringify(shown)},"session":${sessionJson(session, options)}}`;
  await emit(transaction, deps, [
    {
      ownerId: session.merchantId,
      type: 'session.exception',
      objectId: session.sessionId,
      dataJson: dataOf(view),
      shortDataJson: () => dataOf({ ...view, showProductData: false }),
      at: deps.clock.now(),
    },
  ]);
}

/** A page of the merchant's exceptions, newest first, with the exact total. */
export async function listExceptions(
  queryable: Queryable,
  request: ListRequest,
): Promise<{ place: ListPage; exceptions: PaymentException[] }> {
  const found = await queryable.query(exceptionPage, pageValues(request));
  const { place, rows } = readPage(found, request.size, (row) => row.exception_id);
  return { place, exceptions: rows.map(exceptionOf) };
}

/** A page of all merchants' exceptions, newest first, and whether there are more. */
export async function listAllExceptions(
  queryable: Queryable,
  {
    page,
    size,
    status = '',
  }: { readonly page: number; readonly size: number; readonly status?: string | undefined },
): Promise<{ hasMore: boolean; exceptions: (PaymentException & { merchantId: string })[] }> {
  const rows = await queryable.query(exceptionsOfAll, { status, limit: size + 1, skip: (page - 1) * size });
  const exceptions = rows.slice(0, size).map((row) => ({ merchantId: row.merchant_id, ...exceptionOf(row) }));
  return { hasMore: rows.length > size, exceptions };
}

/** One of the merchant's exceptions. Refuses unknown ones with 100704. */
export async function findException(
  queryable: Queryable,
  { merchantId, exceptionId }: { merchantId: string; exceptionId: string },
): Promise<PaymentException> {
  const [row] = await queryable.query(exceptionById, { merchantId, exceptionId });
  if (row === undefined) throw new Refusal('exception_not_found', exceptionId);
  return exceptionOf(row);
}

/** The exceptions of several sessions, oldest first. */
export async function findExceptions(
  queryable: Queryable,
  sessionIds: readonly string[],
): Promise<PaymentException[]> {
  const rows = await queryable.query(exceptionsOfSessions, { sessionIds });
  return rows.map(exceptionOf);
}

/**
 * Marks an exception as resolved; false when it is resolved already. Refuses unknown ones with 100704, and those that wait for
 * a decision with 100707: the mark would end the decision while the money is at its address.
 */
export async function markResolved(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  request: { merchantId: string; exceptionId: string },
): Promise<boolean> {
  const { merchantId, exceptionId } = request;
  const [row] = await transaction.query(lockException, { merchantId, exceptionId });
  if (row === undefined) throw new Refusal('exception_not_found', exceptionId);
  const now = deps.clock.now();
  const { status, decision, decide_by: decideBy } = row;
  if (status === 'open' && decision === '' && decideBy !== null && now <= decideBy)
    throw new Refusal('exception_undecided', `decide until ${formatTimestamp(decideBy)}`);
  const resolved = await transaction.query(resolveException, { merchantId, exceptionId, updatedAt: now });
  return resolved.length > 0;
}

/**
 * Stores a merchant's decision about money that came late or short. The first decision is final: repeating it gives false,
 * and the opposite is refused with 100705. Refuses unknown exceptions (100704), and exceptions that can no longer
 * be decided, or never could (100706), such as a second payment. Accepts no deposit that lacks more than its terms and the
 * operator's present policy add. The loops of `deposits` move the money afterwards.
 */
export async function decide(
  transaction: Transaction,
  deps: { readonly clock: Clock; readonly deposits: DepositPolicy | undefined },
  request: { merchantId: string; exceptionId: string; decision: ExceptionDecision },
): Promise<boolean> {
  const { merchantId, exceptionId, decision } = request;
  const [row] = await transaction.query(lockException, { merchantId, exceptionId });
  if (row === undefined) throw new Refusal('exception_not_found', exceptionId);
  if (row.decision === decision) return false;
  if (row.decision !== '') throw new Refusal('exception_decided', `the decision is ${row.decision}`);
  const now = deps.clock.now();
  if (row.decide_by === null || row.status !== 'open')
    throw new Refusal('exception_not_acceptable', 'no decision is open');
  if (now > row.decide_by)
    throw new Refusal('exception_not_acceptable', `until ${formatTimestamp(row.decide_by)}`);
  if (decision === 'accept' && row.paid_order_id !== '')
    throw new Refusal('exception_not_acceptable', 'the session is paid: this goes back');
  if (decision === 'accept' && row.kind === 'underpaid') await assertAddable(transaction, deps, row);
  await transaction.query(decideException, { exceptionId, decision, updatedAt: now });
  return true;
}

/** Refuses a deposit that lacks more than the operator adds: by the terms of its address, and by the present configuration. */
async function assertAddable(
  transaction: Transaction,
  { deposits }: { readonly deposits: DepositPolicy | undefined },
  row: LockedException,
): Promise<void> {
  const lacking = row.total - row.amount_in_token;
  if (lacking <= 0n) return;
  const order = await findOrder(transaction, row.order_id);
  const configured = order === undefined ? 0n : mostAddedTo(deposits, order);
  const most = configured < row.most_added ? configured : row.most_added;
  if (lacking > most)
    throw new Refusal('exception_not_acceptable', `it lacks ${lacking} units, the operator adds ${most}`);
}

/**
 * The order of a second payment that was settled before it could go back. Locks its exception, so that it is not marked as
 * resolved meanwhile. Refuses exceptions that are not the session's (100704), of another kind, or resolved (100702).
 */
export async function lockSettledSecond(
  transaction: Transaction,
  request: { merchantId: string; exceptionId: string; sessionId: string },
): Promise<string> {
  const { exceptionId, sessionId } = request;
  const [row] = await transaction.query(lockException, request);
  if (row === undefined || row.session_id !== sessionId)
    throw new Refusal('exception_not_found', exceptionId);
  if (row.kind !== 'duplicate_settled')
    throw new Refusal('refund_not_possible', `the exception is ${row.kind}: its money is not in your wallet`);
  if (row.status !== 'open') throw new Refusal('refund_not_possible', 'the exception is resolved');
  return row.order_id;
}

/** The latest decision about each of several orders, and the kind of exception that it is about. */
export async function findDecisions(
  queryable: Queryable,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, { readonly kind: ExceptionKind; readonly decision: ExceptionDecision }>> {
  const rows = await queryable.query(decisionsOfOrders, { orderIds });
  return new Map(
    rows.map((row) => [
      row.order_id,
      { kind: row.kind as ExceptionKind, decision: row.decision as ExceptionDecision },
    ]),
  );
}

function exceptionOf(row: ExceptionRow): PaymentException {
  return {
    exceptionId: row.exception_id,
    // The schema's check constraints guarantee these types.
    kind: row.kind as ExceptionKind,
    orderId: row.order_id,
    payer: row.payer,
    tokenId: row.token_id,
    amountInToken: row.amount_in_token.toString(),
    txHash: row.tx_hash,
    sessionId: row.session_id,
    status: row.status as PaymentException['status'],
    resolvedTx: row.resolved_tx,
    isGone: row.loss === 'gone',
    decision: row.decision as PaymentException['decision'],
    decideBy: row.decide_by === null ? '' : formatTimestamp(row.decide_by),
    createAt: formatTimestamp(row.created_at),
    updateAt: formatTimestamp(row.updated_at),
  };
}
