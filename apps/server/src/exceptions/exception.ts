import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { ExceptionKind, PaymentException } from '@florin/protocol/exception.ts';
import { newId } from '@florin/protocol/id.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import type { Chains } from '#chains/chain.ts';
import type { ChainEvent, ChainHandler } from '#chains/event.ts';
import { type ListPage, type PageRequest, pageValues, readPage } from '#db/list-page.ts';
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
  exceptionsOfSessions,
  insertException,
  lockException,
  resolveByEvent,
  resolveException,
  updateHeldAmount,
} from './exception.sql.ts';

export interface ExceptionDeps extends SessionMoveContext {
  readonly log: Log;
}

/** What has happened to a payment out of the usual course. */
export interface RaisedException {
  readonly session: StoredSession;
  readonly order: StoredOrder;
  readonly kind: ExceptionKind;
  /** What it is about: the order's own token and total unless given. */
  readonly money?: { readonly tokenId: string; readonly amount: bigint };
  /** Empty where no one transaction shows it. */
  readonly txHash: string;
  /** What the link's policy says; nothing when absent. */
  readonly decision?: ExceptionDecision;
  /** Until when the merchant can accept it; not at all when absent. */
  readonly decideBy?: Date;
}

/** What is to become of money that came late or short. */
export type ExceptionDecision = 'accept' | 'refund';

/** Kinds after which the money is back with its payer already: nothing is left to be done. */
const settledKinds: ReadonlySet<ExceptionKind> = new Set(['refunded', 'reclaimed']);

/**
 * Tells the merchant, and the operator's log, that something went another way than a payment should: once for each kind,
 * order and token. False when it was told before; what is still to be decided then shows the newest amount. The caller holds the session's row lock.
 */
export async function raise(
  transaction: Transaction,
  deps: ExceptionDeps,
  raised: RaisedException,
): Promise<boolean> {
  const { session, order, kind, txHash } = raised;
  const { tokenId, amount } = raised.money ?? { tokenId: order.tokenId, amount: order.order.total };
  const [row] = await transaction.query(insertException, {
    exceptionId: newId('exception', deps.random.bytes),
    merchantId: session.merchantId,
    sessionId: session.sessionId,
    orderId: order.orderId,
    kind,
    tokenId,
    amountInToken: amount,
    payer: order.order.payer,
    txHash,
    status: settledKinds.has(kind) ? 'resolved' : 'open',
    createdAt: deps.clock.now(),
    decision: raised.decision ?? '',
    decideBy: raised.decideBy ?? null,
  });
  if (row === undefined) {
    if (raised.decideBy !== undefined)
      await transaction.query(updateHeldAmount, {
        orderId: order.orderId,
        kind,
        tokenId,
        amountInToken: amount,
        updatedAt: deps.clock.now(),
      });
    return false;
  }
  deps.log.warn(`payment.${kind}`, { sessionId: session.sessionId, orderId: order.orderId, txHash });
  const {
    status: _status,
    resolvedTx: _tx,
    sessionId: _id,
    createAt: _c,
    updateAt: _u,
    ...told
  } = exceptionOf(row);
  const shown = fullView(deps.origin);
  const dataOf = (options: SessionJsonOptions) =>
    `{"exception":${JSON.stringify(told)},"session":${sessionJson(session, options)}}`;
  await emit(transaction, deps.random, [
    {
      ownerId: session.merchantId,
      type: 'session.exception',
      objectId: session.sessionId,
      dataJson: dataOf(shown),
      shortDataJson: () => dataOf({ ...shown, showProductData: false }),
      at: deps.clock.now(),
    },
  ]);
  return true;
}

/** One page of the merchant's exceptions, newest first, with the exact total. */
export async function listExceptions(
  queryable: Queryable,
  request: PageRequest,
): Promise<{ place: ListPage; exceptions: PaymentException[] }> {
  const found = await queryable.query(exceptionPage, pageValues(request));
  const { place, rows } = readPage(found, request.size, (row) => row.exception_id);
  return { place, exceptions: rows.map(exceptionOf) };
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

/** Notes that somebody has dealt with an exception; again changes nothing. Refuses unknown ones with 100704. */
export async function markResolved(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  request: { merchantId: string; exceptionId: string },
): Promise<void> {
  const { merchantId, exceptionId } = request;
  const rows = await transaction.query(resolveException, {
    merchantId,
    exceptionId,
    updatedAt: deps.clock.now(),
  });
  if (rows.length === 0) throw new Refusal('exception_not_found', exceptionId);
}

/**
 * Writes down what a merchant says of money that came late or short. The first decision stands: the same one again changes
 * nothing, the other one is refused with 100705. Refuses unknown exceptions (100704) and what cannot be decided any more, or
 * at all (100706), such as a second payment. Moves no money: whoever looks after the address does.
 */
export async function decide(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  request: { merchantId: string; exceptionId: string; decision: ExceptionDecision },
): Promise<void> {
  const { merchantId, exceptionId, decision } = request;
  const [row] = await transaction.query(lockException, { merchantId, exceptionId });
  if (row === undefined) throw new Refusal('exception_not_found', exceptionId);
  if (row.decision === decision) return;
  if (row.decision !== '') throw new Refusal('exception_decided', `the decision is ${row.decision}`);
  const now = deps.clock.now();
  if (row.decide_by === null || row.status !== 'open')
    throw new Refusal('exception_not_acceptable', 'nothing is to be decided');
  if (now > row.decide_by)
    throw new Refusal('exception_not_acceptable', `until ${formatTimestamp(row.decide_by)}`);
  if (decision === 'accept' && row.paid_order_id !== '')
    throw new Refusal('exception_not_acceptable', 'the session is paid: this goes back');
  const lacking = row.total - row.amount_in_token;
  if (decision === 'accept' && row.kind === 'underpaid' && lacking > row.most_added)
    throw new Refusal(
      'exception_not_acceptable',
      `it lacks ${lacking} units, the operator adds ${row.most_added}`,
    );
  await transaction.query(decideException, { exceptionId, decision, updatedAt: now });
}

/** What has been decided about the deposits of several orders: by a refusal of anything, or an acceptance of what. */
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

/** Exceptions that an event of the chain ends, when it is final. */
const endings: Readonly<Partial<Record<ChainEvent['name'], readonly ExceptionKind[]>>> = {
  // What was late or short is the payment now.
  Paid: ['underpaid', 'late'],
  Refunded: ['duplicate'],
  Reclaimed: ['duplicate'],
  Rescued: ['underpaid', 'overpaid', 'late', 'wrong_token', 'duplicate'],
};

/** Ends exceptions whose money the chain shows, finally, to be back with its payer, or to be the payment. */
export function exceptionHandler(deps: { readonly clock: Clock; readonly chains: Chains }): ChainHandler {
  return {
    async onBlock() {},
    async onReorg() {},
    async onFinal(transaction, chain, _block, events) {
      for (const event of events) {
        const kinds = endings[event.name];
        if (kinds === undefined) continue;
        const { token } = event.arguments;
        const tokenId =
          event.name === 'Rescued' ? deps.chains.tokenAt(chain.chainId, token ?? '')?.tokenId : '';
        if (tokenId === undefined) continue;
        await transaction.query(resolveByEvent, {
          orderId: event.orderId,
          kinds,
          tokenId,
          resolvedTx: event.txHash,
          updatedAt: deps.clock.now(),
        });
      }
    },
  };
}

function exceptionOf(row: ExceptionRow): PaymentException {
  return {
    exceptionId: row.exception_id,
    // The schema's check constraints are what makes these narrowings true.
    kind: row.kind as ExceptionKind,
    orderId: row.order_id,
    payer: row.payer,
    tokenId: row.token_id,
    amountInToken: row.amount_in_token.toString(),
    txHash: row.tx_hash,
    sessionId: row.session_id,
    status: row.status as PaymentException['status'],
    resolvedTx: row.resolved_tx,
    decision: row.decision as PaymentException['decision'],
    decideBy: row.decide_by === null ? '' : formatTimestamp(row.decide_by),
    createAt: formatTimestamp(row.created_at),
    updateAt: formatTimestamp(row.updated_at),
  };
}
