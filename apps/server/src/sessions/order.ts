import { Refusal } from '@florin/protocol/error.ts';
import { toTokenAmount } from '@florin/protocol/money.ts';
import { type Hex, type Order, orderKinds, type SettlementMode } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { type Chains, ownerlessAt } from '#chains/chain.ts';
import { findCursor } from '#chains/watcher/cursor.ts';
import type { Queryable, Transaction } from '#db/database.ts';
import { unixSeconds } from '#outside/clock.ts';
import { depositOrdersOfSession, insertOrder, orderById, ordersByIds } from './order.sql.ts';
import type { OrderLimits } from './order-limit.ts';
import {
  assertRouteOpen,
  type FeeRates,
  outOfBounds,
  passedStraightOn,
  priceBounds,
  type Quote,
  quoteOf,
  quoteOfTotal,
  routeFrom,
  totalBounds,
} from './quote.ts';
import { receiverOf } from './receiver.ts';
import { moveSession, type SessionMoveDeps } from './session-move.ts';
import { parseOrder } from './session-row.ts';
import { settlementModeFor } from './settlement-mode.ts';
import type { OrderSigner } from './signer.ts';
import type { StoredOrder, StoredSession } from './stored-session.ts';

export interface OrderDeps extends SessionMoveDeps {
  readonly chains: Chains;
  readonly rates: FeeRates;
  readonly signer: OrderSigner;
  /** How long after the deadline the payer may take an unsettled payment back, in seconds. */
  readonly reclaimAfterSeconds: number;
  /** For accounts that say nothing; escrow when absent. */
  readonly settlementMode?: SettlementMode;
  /** Payable orders of a session; any number when absent. */
  readonly orderLimits?: OrderLimits;
}

export interface OrderRequest {
  /** Locked by the caller. */
  readonly session: StoredSession;
  /** Checksummed. */
  readonly payer: Hex;
  /** Empty when not given; never goes on chain. */
  readonly payerEmail: string;
  readonly token: Token;
  /** When the order ends, in Unix seconds; with the session when absent. */
  readonly endsAt?: number;
  /** The client network that has it prepared, where it counts for one. */
  readonly network?: string;
  /** How long after the order's end a block may still carry the payment, in seconds; 0 when absent. */
  readonly lateSeconds?: number;
  /** When absent, an order that is signed goes by the merchant's account, and one that is only drafted is held. */
  readonly settlementMode?: SettlementMode;
}

/** The signature of an order that nobody has signed: it is only ever collected, and signed for that. */
export const unsigned: Hex = '0x';

/** Whether nobody but the service, by collecting a deposit, can pay the order. */
export function isCollectedOnly(order: Pick<StoredOrder, 'signature'>): boolean {
  return order.signature === unsigned;
}

/**
 * The price of a session in one token. Refuses a token without a route, a chain that is unavailable, and an amount that
 * the route does not take.
 */
export function quoteSession(chains: Chains, rates: FeeRates, session: StoredSession, token: Token): Quote {
  const ends = { paymentTokenId: token.tokenId, settlementTokenId: session.settlementToken };
  const route = routeFrom(chains, rates, ends);
  if (route === undefined) throw new Refusal('payment_token_unsupported', token.tokenId);
  assertRouteOpen(route);
  const { feeModel, chosenTotal } = session;
  const [quote, bounds] =
    chosenTotal === undefined
      ? [quoteOf(route, { paymentValue: session.amount, feeModel }), priceBounds(route, feeModel)]
      : [quoteOfTotal(route, { totalValue: chosenTotal, feeModel }), totalBounds(route, feeModel)];
  if (quote === undefined) throw outOfBounds(route, bounds);
  return quote;
}

/** Refuses a session that cannot be paid any more, with the code that says why. */
export function assertPayable(session: StoredSession, now: Date): void {
  if (session.status === 'cancelled') throw new Refusal('session_cancelled');
  if (session.status === 'expired') throw new Refusal('session_expired');
  if (session.status !== 'initialized') throw new Refusal('session_paid');
  if (session.initiateTx !== '') throw new Refusal('order_already_paid', `seen in ${session.initiateTx}`);
  if (session.expirationTime <= now) throw new Refusal('session_expired');
}

/** Refuses a payer to whom nothing could go back: the zero address, or a contract of the installation (100611). */
export function assertServed(chains: Chains, payer: Hex): void {
  const ownerless = ownerlessAt(chains, payer);
  if (ownerless === undefined) return;
  const detail = `${payer} is ${ownerless}`;
  throw new Refusal('payer_not_served', { param: 'payer', detail });
}

/**
 * Signs and stores an order that lets one payer pay the session with one token, exactly once. Identical requests give
 * the identical order. Sets signedOnce. Refuses what cannot be paid (1002xx, 100608, 100613, 900401), and another chain
 * than that of a direct order (100612).
 */
export async function prepareOrder(
  transaction: Transaction,
  deps: OrderDeps,
  request: OrderRequest,
): Promise<StoredOrder> {
  const { session, token } = request;
  assertPayable(session, deps.clock.now());
  const chain = deps.chains.byId(token.chainId);
  if (chain === undefined) throw new Refusal('payment_token_unsupported', token.tokenId);
  const cursor = await findCursor(transaction, chain.chainId);
  // Nobody looks at a chain whose breaker has tripped: a payment there would stay unseen for as long.
  if (cursor !== undefined && cursor.haltedReason !== '') throw new Refusal('chain_unavailable', chain.name);
  const settlementMode = await settlementModeFor(transaction, deps, request);
  const drafted = draftOrder(deps, { ...request, settlementMode });
  const stored: StoredOrder = {
    ...drafted,
    signature: await deps.signer.signOrder(chain.chainId, chain.gateway, drafted.order),
  };
  await storeOrder(transaction, stored, deps.clock.now(), request.network);
  if (!session.signedOnce) await moveSession(transaction, deps, session, 'order_signed');
  return stored;
}

/**
 * The order of a request as it would be signed now, without its signature: the same terms always give the same id. Refuses
 * a token without a route, an amount that the route does not take, and a payer who cannot be served (100611).
 */
export function draftOrder(deps: OrderDeps, request: OrderRequest): Omit<StoredOrder, 'signature'> {
  const { session, token } = request;
  const chain = deps.chains.byId(token.chainId);
  const settlementToken = deps.chains.token(session.settlementToken);
  if (chain === undefined || settlementToken === undefined)
    throw new Refusal('payment_token_unsupported', token.tokenId);
  assertServed(deps.chains, request.payer);
  const held = quoteSession(deps.chains, deps.rates, session, token);
  const quote = request.settlementMode === 'direct' ? passedStraightOn(held) : held;
  const order = orderOf(request, quote, settlementToken, deps.reclaimAfterSeconds);
  const payingChain = deps.chains.byId(settlementToken.chainId);
  return {
    orderId: deps.signer.orderId(chain.chainId, chain.gateway, order),
    sessionId: session.sessionId,
    chainId: chain.chainId,
    tokenId: token.tokenId,
    payerEmail: request.payerEmail,
    order,
    gateway: chain.gateway,
    payoutVault: order.orderType === orderKinds.vaultPayout ? (payingChain?.vault ?? '') : '',
    amounts: quote.amounts,
  };
}

function orderOf(
  request: OrderRequest,
  quote: Quote,
  settlementToken: Token,
  reclaimAfterSeconds: number,
): Order {
  const { session, payer, token } = request;
  const { amounts, orderType } = quote;
  const endsAt = request.endsAt ?? unixSeconds(session.expirationTime);
  const payBy = endsAt + (request.lateSeconds ?? 0);
  return {
    channelId: session.channelId,
    metaData: session.metaData,
    payer,
    token: token.address,
    to: session.recipient,
    total: quote.amountInToken,
    payment: toTokenAmount(amounts.paymentValue, token.decimals),
    fee: toTokenAmount(amounts.feeValue, token.decimals),
    payBy: BigInt(payBy),
    reclaimAt: BigInt(payBy + reclaimAfterSeconds),
    orderType,
    // Where the merchant's money arrives: the order's own chain but for payouts and mints.
    targetChain: BigInt(settlementToken.chainId),
  };
}

/** Stores an order; one with the same terms stands already. */
export async function storeOrder(
  transaction: Transaction,
  stored: StoredOrder,
  now: Date,
  network = '',
): Promise<void> {
  const { order, amounts } = stored;
  await transaction.query(insertOrder, [
    stored.orderId,
    stored.sessionId,
    stored.chainId,
    stored.tokenId,
    order.channelId,
    order.metaData,
    order.payer,
    stored.payerEmail,
    order.token,
    order.to,
    order.total,
    order.payment,
    order.fee,
    order.payBy,
    order.reclaimAt,
    order.orderType,
    order.targetChain,
    amounts.totalValue,
    amounts.paymentValue,
    amounts.feeValue,
    amounts.netValue,
    stored.signature,
    stored.gateway,
    stored.payoutVault,
    now,
    stored.gateway === '' ? null : receiverOf(stored.gateway, stored.orderId).toLowerCase(),
    network,
  ]);
}

/** One order by its on-chain id; undefined when this service never signed it. */
export async function findOrder(queryable: Queryable, orderId: string): Promise<StoredOrder | undefined> {
  const rows = await queryable.query(orderById, [orderId]);
  return rows[0] === undefined ? undefined : parseOrder(rows[0]);
}

/** Several orders by id, in no order; unknown ids are left out. */
export async function findOrders(queryable: Queryable, orderIds: readonly string[]): Promise<StoredOrder[]> {
  const [only, ...others] = orderIds;
  // PostgreSQL plans a look-up by a list afresh each time.
  const rows =
    only !== undefined && others.length === 0
      ? await queryable.query(orderById, [only])
      : await queryable.query(ordersByIds, [orderIds]);
  return rows.map(parseOrder);
}

/** The orders of a session whose deposit addresses payers may have sent to, the newest first; `limit` at most. */
export async function findDepositOrders(
  queryable: Queryable,
  sessionId: string,
  limit: number,
): Promise<StoredOrder[]> {
  return (await queryable.query(depositOrdersOfSession, [sessionId, limit])).map(parseOrder);
}
