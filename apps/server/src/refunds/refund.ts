import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { EventType } from '@florin/protocol/event.ts';
import { newId } from '@florin/protocol/id.ts';
import { type MicroUsd, microUsd, microUsdToNumber } from '@florin/protocol/money.ts';
import { orderKinds } from '@florin/protocol/order.ts';
import type { Refund, RefundCreateBody, RefundStatus } from '@florin/protocol/refund.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { type ListPage, type ListRequest, pageValues, readPage } from '#db/list-page.ts';
import { findExceptions, lockSettledSecond } from '#exceptions/exception.ts';
import { findOrder, findOrders } from '#orders/order.ts';
import { valueMismatchOf } from '#orders/order-mismatch.ts';
import { paidValueOf, type StoredOrder } from '#orders/stored-order.ts';
import type { SessionContext } from '#sessions/context.ts';
import { findLostPayments, isHalted } from '#sessions/progress.ts';
import { lockSession } from '#sessions/session.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { replaceSettlementByRefund, type WithdrawalObstacle } from '#settlement/withdrawal.ts';
import { emit } from '#webhooks/outbox.ts';
import { type RefundTrigger, refundMove } from './refund.machine.ts';
import {
  additionToSession,
  insertRefund,
  type RefundRow,
  refundById,
  refundPage,
  refundPageOfSession,
  refundsBySession,
  returnedUnits,
  updateRefund,
  waitingAmount,
} from './refund.sql.ts';
import { refundTransactions, unitsPerMicroUsd } from './refund-call.ts';

/** What this room needs of the process that it runs in. */
export type RefundContext = Pick<SessionContext, 'clock' | 'random' | 'notify' | 'chains'>;

/**
 * Requests a refund of the payment that paid a session, or of a second one that was settled too. The platform returns a
 * payment that is not settled yet, as a whole. The merchant's wallet returns a settled one, also in parts. Refuses unknown
 * sessions (100201) and exceptions (100704), more than is left beside the refunds that wait for a wallet (100701), and
 * payments that cannot go back, or not in part (100702). While the payment's chain is halted, all are refused (900401).
 */
export async function createRefund(
  transaction: Transaction,
  deps: RefundContext,
  request: { merchantId: string; body: RefundCreateBody },
): Promise<Refund> {
  const { merchantId, body } = request;
  // Locked: a return at the same moment is either counted here, or finds the refund that is created here.
  const session = await lockSession(transaction, body.sessionId);
  if (session === undefined || session.merchantId !== merchantId)
    throw new Refusal('session_not_found', body.sessionId);
  const { exceptionId = '' } = body;
  const orderId =
    exceptionId === ''
      ? session.orderId
      : await lockSettledSecond(transaction, { merchantId, exceptionId, sessionId: session.sessionId });
  const order = orderId === '' ? undefined : await findOrder(transaction, orderId);
  if (order === undefined) throw new Refusal('refund_not_possible', `nothing is paid: ${session.status}`);
  if (order.order.payer.toLowerCase() === order.order.to.toLowerCase()) {
    // Paid by x402 without a refund address: through the gateway it would come back to the merchant.
    throw new Refusal(
      'refund_not_possible',
      `send it from your wallet to ${session.payer}, who named no other address`,
    );
  }
  if (exceptionId !== '' && order.order.orderType === orderKinds.vaultPayout)
    throw new Refusal('refund_not_possible', 'the operator has this money in a vault, and returns it');
  const returned =
    exceptionId === '' ? session.refundedAmount : (await returnedOf(transaction, [order]))(order);
  const waiting = await amountWaiting(transaction, orderId);
  // A wallet may have returned more by itself: the gateway's limit is the order's total.
  const rest = paidValueOf(order) - returned - waiting;
  const left = microUsd(rest < 0n ? 0n : rest);
  const amount = body.amount === undefined ? left : microUsd(BigInt(body.amount));
  if (amount > left || (left === 0n && waiting > 0n))
    throw new Refusal('refund_exceeds', leftText(order, returned, waiting));
  await requireStanding(transaction, order);
  const obstacle = await replaceSettlementByRefund(transaction, order, deps.clock.now());
  if (obstacle !== undefined && obstacle !== 'settled')
    throw new Refusal('refund_not_possible', obstacleTexts[obstacle]);
  if (left === 0n) throw new Refusal('refund_not_possible', obstacleTexts.returned);
  if (obstacle === undefined && amount < left) {
    const detail = `before the settlement only all of it can go back: leave amount out, or give ${left}`;
    throw new Refusal('refund_not_possible', { param: 'amount', detail });
  }
  const additions = await transaction.query(additionToSession, { sessionId: session.sessionId });
  if (obstacle === undefined && additions.length > 0) {
    // The whole order would go back, so the payer would get the operator's addition.
    throw new Refusal('refund_not_possible', 'a deposit was short and added to: wait until it is settled');
  }
  const status = obstacle === 'settled' ? 'requires_signature' : 'pending';
  const mismatch =
    status === 'requires_signature' ? signingMismatch(deps, session.sessionId, order) : undefined;
  if (mismatch !== undefined) throw new Refusal('refund_not_possible', mismatch);
  const { reason = '' } = body;
  return insert(transaction, deps, { session, order, exceptionId, amount, status, reason, returned });
}

/** Refuses a payment whose chain is halted (900401), and one that a reorg below finality took back (100702). */
export async function requireStanding(
  queryable: Queryable,
  { orderId, chainId }: Pick<StoredOrder, 'orderId' | 'chainId'>,
): Promise<void> {
  if (await isHalted(queryable, chainId))
    throw new Refusal('chain_unavailable', 'it is halted: wait until the operator has resumed it');
  if ((await findLostPayments(queryable, [orderId])).has(orderId))
    throw new Refusal('refund_not_possible', obstacleTexts.lost);
}

async function insert(
  transaction: Transaction,
  deps: RefundContext,
  refund: {
    session: StoredSession;
    order: StoredOrder;
    exceptionId: string;
    amount: MicroUsd;
    status: RefundStatus;
    reason: string;
    returned: MicroUsd;
  },
): Promise<Refund> {
  const { session, order, exceptionId, amount, status, reason, returned } = refund;
  const stored = { session, orderId: order.orderId, exceptionId, amount, status, reason, txHash: '' };
  const row = await store(transaction, deps, stored);
  const created = refundOf(row, toSignOf(deps, row, order, returned));
  await emitRefund(transaction, deps, created, { row, type: 'refund.created' });
  return created;
}

async function store(
  transaction: Transaction,
  deps: Pick<RefundContext, 'clock' | 'random'>,
  {
    session: { merchantId, sessionId },
    ...refund
  }: {
    session: StoredSession;
    orderId: string;
    exceptionId: string;
    amount: MicroUsd;
    status: RefundStatus;
    reason: string;
    txHash: string;
  },
): Promise<RefundRow> {
  const [row] = await transaction.query(insertRefund, {
    ...refund,
    refundId: newId('refund', deps.random.bytes),
    ...{ merchantId, sessionId, createdAt: deps.clock.now() },
  });
  if (row === undefined) throw new Error('the insert returned no refund');
  return row;
}

/**
 * Records what a wallet returned of a settled payment without a refund that waited for it: by itself, or twice. The refund
 * is completed from the first moment, so that lists and reports hold all that the payer got back.
 */
export async function recordReturn(
  transaction: Transaction,
  deps: Pick<RefundContext, 'clock' | 'random' | 'notify'>,
  returned: { session: StoredSession; orderId: string; amount: MicroUsd; txHash: string },
): Promise<void> {
  const { session, orderId } = returned;
  const exceptions =
    session.orderId === orderId ? [] : await findExceptions(transaction, [session.sessionId]);
  const second = exceptions.find((each) => each.kind === 'duplicate_settled' && each.orderId === orderId);
  const exceptionId = second?.exceptionId ?? '';
  const row = await store(transaction, deps, { ...returned, exceptionId, status: 'completed', reason: '' });
  await emitRefund(transaction, deps, refundOf(row), { row, type: 'refund.completed' });
}

/** What the gateway has returned of each of some settled orders, final. */
export async function returnedOf(
  queryable: Queryable,
  orders: readonly StoredOrder[],
): Promise<(order: StoredOrder) => MicroUsd> {
  const orderIds = orders.map(({ orderId }) => orderId);
  const rows = orderIds.length === 0 ? [] : await queryable.query(returnedUnits, { orderIds });
  const units = new Map<string, bigint>(rows.map((row) => [row.order_id, row.units]));
  return (order) => microUsd((units.get(order.orderId) ?? 0n) / unitsPerMicroUsd(order));
}

/** What refunds of the payment return that wait for the merchant's wallet. */
async function amountWaiting(queryable: Queryable, orderId: string): Promise<MicroUsd> {
  const [waiting] = await queryable.query(waitingAmount, { orderId });
  return microUsd(waiting?.amount ?? 0n);
}

function leftText(order: StoredOrder, returned: MicroUsd, waiting: MicroUsd): string {
  const parts = [
    ...(returned === 0n ? [] : [`${returned} went back`]),
    ...(waiting === 0n ? [] : [`${waiting} wait for a signature: sign or cancel those refunds`]),
  ];
  return `${paidValueOf(order)} Micro-USD were paid${parts.length === 0 ? '' : ', of which '}${parts.join(' and ')}`;
}

const obstacleTexts: Readonly<Record<Exclude<WithdrawalObstacle, 'settled'> | 'lost', string>> = {
  on_its_way: 'its settlement is on its way',
  withdrawn: 'a refund is under way',
  lost: 'the chain took back the block with the payment: wait until it is final again',
  returned: 'the payment is back with its payer, or on its way there',
};

/** One refund of the merchant, or 100703. */
export async function findRefund(
  queryable: Queryable,
  deps: RefundContext,
  request: { merchantId: string; refundId: string },
): Promise<Refund> {
  const [row] = await queryable.query(refundById, request);
  if (row === undefined) throw new Refusal('refund_not_found', request.refundId);
  const [refund] = await refundsOf(queryable, deps, [row]);
  if (refund === undefined) throw new Error('a row gave no refund');
  return refund;
}

/** One page of the merchant's refunds, of all sessions or of one, newest first, with the exact total. */
export async function listRefunds(
  queryable: Queryable,
  deps: RefundContext,
  { sessionId, ...request }: ListRequest & { readonly sessionId?: string | undefined },
): Promise<{ place: ListPage; refunds: Refund[] }> {
  const page = pageValues(request);
  const found = await (sessionId === undefined
    ? queryable.query(refundPage, page)
    : queryable.query(refundPageOfSession, { ...page, sessionId }));
  const { place, rows } = readPage(found, request.size, (row) => row.refund_id);
  return { place, refunds: await refundsOf(queryable, deps, rows) };
}

/** The refunds of a session, oldest first, without what a wallet would sign. */
export async function refundsOfSession(queryable: Queryable, sessionId: string): Promise<Refund[]> {
  const rows = await queryable.query(refundsBySession, { sessionId });
  return rows.map((row) => refundOf(row));
}

async function refundsOf(
  queryable: Queryable,
  deps: RefundContext,
  rows: readonly RefundRow[],
): Promise<Refund[]> {
  const orderIds = rows.filter((row) => row.status === 'requires_signature').map((row) => row.order_id);
  const found = orderIds.length === 0 ? [] : await findOrders(queryable, orderIds);
  const orders = new Map<string, StoredOrder>(found.map((order) => [order.orderId, order]));
  const returned = await returnedOf(queryable, found);
  return rows.map((row) => {
    const order = orders.get(row.order_id);
    if (order === undefined) return refundOf(row);
    return refundOf(row, toSignOf(deps, row, order, returned(order)));
  });
}

/**
 * Makes one move of the refund machine and writes its event. The caller holds the row lock. A refund whose return is lost keeps
 * its transaction, which can come back by itself.
 */
export async function moveRefund(
  transaction: Transaction,
  deps: Pick<RefundContext, 'clock' | 'random' | 'notify'>,
  row: RefundRow,
  fact: { trigger: RefundTrigger; txHash: string },
): Promise<void> {
  const move = refundMove(statusOf(row), fact.trigger);
  if (move === undefined) return;
  const [moved] = await transaction.query(updateRefund, {
    refundId: row.refund_id,
    fromStatus: move.from,
    status: move.to,
    txHash: move.to === 'completed' || move.event === 'refund.reopened' ? fact.txHash : '',
    updatedAt: deps.clock.now(),
  });
  if (moved === undefined) throw new Error(`refund ${row.refund_id} left ${row.status} without its lock`);
  await emitRefund(transaction, deps, refundOf(moved), { row: moved, type: move.event });
}

async function emitRefund(
  transaction: Transaction,
  deps: Pick<RefundContext, 'clock' | 'random' | 'notify'>,
  refund: Refund,
  raised: { row: RefundRow; type: Extract<EventType, `refund.${string}`> },
): Promise<void> {
  const { row, type } = raised;
  const { merchant_id: ownerId, refund_id: objectId, updated_at: at } = row;
  await emit(transaction, deps, [{ ownerId, type, objectId, dataJson: JSON.stringify({ refund }), at }]);
}

/** The schema's check constraint guarantees this type. */
export function statusOf(row: Pick<RefundRow, 'status'>): RefundStatus {
  return row.status as RefundStatus;
}

type ToSign = Pick<Refund, 'refundedAmount' | 'requiredBalance' | 'txRequest' | 'prerequisites'>;

/** The transactions of a refund that waits for the merchant's wallet, and what of its payment went back before. */
function toSignOf(deps: RefundContext, row: RefundRow, order: StoredOrder, returned: MicroUsd): ToSign {
  if (statusOf(row) !== 'requires_signature') return {};
  const chain = deps.chains.byId(order.chainId);
  if (chain === undefined || signingMismatch(deps, row.session_id, order) !== undefined) return {};
  const token = deps.chains.token(order.tokenId);
  return {
    refundedAmount: microUsdToNumber(returned),
    ...refundTransactions(chain, token, order, microUsd(row.amount)),
  };
}

/**
 * Why no wallet is asked to return something of the order; undefined when one is. So a changed row makes no merchant pay
 * another session's payer, or more than asked. Without its token in the configuration the order's value cannot be compared.
 */
function signingMismatch(deps: RefundContext, sessionId: string, order: StoredOrder): string | undefined {
  const chain = deps.chains.byId(order.chainId);
  if (chain === undefined) return `the chain ${order.chainId} is no longer configured`;
  const mismatch = order.sessionId === sessionId ? valueMismatchOf(order, chain) : 'session';
  return mismatch === undefined || mismatch === 'token'
    ? undefined
    : `its order is in doubt (${mismatch}): tell the operator`;
}

function refundOf(row: RefundRow, toSign: ToSign = {}): Refund {
  return {
    refundId: row.refund_id,
    sessionId: row.session_id,
    orderId: row.order_id,
    exceptionId: row.exception_id,
    amount: microUsdToNumber(microUsd(row.amount)),
    status: statusOf(row),
    reason: row.reason,
    txHash: row.tx_hash,
    cancelledAt: row.cancelled_at === null ? '' : formatTimestamp(row.cancelled_at),
    createAt: formatTimestamp(row.created_at),
    updateAt: formatTimestamp(row.updated_at),
    ...toSign,
  };
}
